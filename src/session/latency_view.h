#pragma once

// The latencies of a profile's sampled memory accesses, by themselves and by where the data came
// from: what a report of latencies is made of.

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "model/profile.h"

namespace culprit {

/// Where an access had its data from.
enum class AccessSource : uint8_t {
  l1,
  fill_buffer,  // its line was on its way already
  l2,
  l3,
  memory,
  other_core,  // the line was written in another core's cache
  remote,      // another socket's cache or memory
  other,       // devices, and what the CPU does not tell
};
inline constexpr size_t kAccessSources = 8;

/// Source: perf_mem_data_src in linux/perf_event.h
AccessSource find_source(uint64_t encoded);
/// Whether its address was in no TLB, so that page tables were walked.
bool walked_page_tables(uint64_t encoded);

/// The event of all latencies.
inline constexpr std::string_view kLatencyEvent = "latency";

/// Headings of the events of with_latencies_only(), in their order.
inline constexpr std::string_view kLatencyHeadings[] = {
    "cycles", "L1", "buffer", "L2", "L3", "memory", "other core", "remote", "other", "walks"};

/// A profile whose first event is kLatencyEvent, followed by its parts by source ("latency-l1"),
/// which add up to it, and by "latency-page-walk", which is of the same accesses.
/// Units:  cycles, as the CPU counts them; samples: accesses
/// Errors: accesses were not recorded, or none of them has a latency
Result<Profile> with_latencies_only(const Profile& profile);

}  // namespace culprit
