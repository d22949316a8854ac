#include "session/latency_view.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <utility>

#include "base/text.h"
#include "model/merge.h"

namespace culprit {
namespace {

constexpr const char* kHowToRecord = "culprit record --data -e EVENT, of an event with latencies";

constexpr std::array<std::string_view, kAccessSources> kSourceEvents = {
    "latency-l1",     "latency-fill-buffer", "latency-l2",     "latency-l3",
    "latency-memory", "latency-other-core",  "latency-remote", "latency-other"};
constexpr std::string_view kWalkEvent = "latency-page-walk";

/// The number of the level, which newer kernels give.
AccessSource source_of_level(uint64_t number) {
  switch (number) {
    case PERF_MEM_LVLNUM_L1:
      return AccessSource::l1;
    case PERF_MEM_LVLNUM_L2:
      return AccessSource::l2;
    case PERF_MEM_LVLNUM_L3:
      return AccessSource::l3;
    case PERF_MEM_LVLNUM_LFB:
      return AccessSource::fill_buffer;
    case PERF_MEM_LVLNUM_L4:
    case PERF_MEM_LVLNUM_RAM:
    case PERF_MEM_LVLNUM_PMEM:
      return AccessSource::memory;
    default:
      return AccessSource::other;
  }
}

/// Bits of levels, as all kernels give them. Of a level that was missed it is not known where the
/// data was instead.
AccessSource source_of_bits(uint64_t bits) {
  constexpr uint64_t kRemote =
      PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2;
  if ((bits & kRemote) != 0) return AccessSource::remote;
  if ((bits & PERF_MEM_LVL_LOC_RAM) != 0) return AccessSource::memory;
  if ((bits & PERF_MEM_LVL_MISS) != 0) return AccessSource::other;
  if ((bits & PERF_MEM_LVL_L1) != 0) return AccessSource::l1;
  if ((bits & PERF_MEM_LVL_LFB) != 0) return AccessSource::fill_buffer;
  if ((bits & PERF_MEM_LVL_L2) != 0) return AccessSource::l2;
  if ((bits & PERF_MEM_LVL_L3) != 0) return AccessSource::l3;
  return AccessSource::other;
}

Event make_latency_event(std::string_view name, Profile& profile) {
  Event event;
  event.name = profile.strings.intern(name);
  event.unit = Unit::cycles;
  event.provenance = Provenance::sampled;
  return event;
}

}  // namespace

AccessSource find_source(uint64_t encoded) {
  const union perf_mem_data_src source{.val = encoded};
  const bool is_remote = source.mem_remote != 0;
  if ((source.mem_snoop & PERF_MEM_SNOOP_HITM) != 0) {
    const bool is_beyond = is_remote || source_of_bits(source.mem_lvl) == AccessSource::remote;
    return is_beyond ? AccessSource::remote : AccessSource::other_core;
  }
  if (is_remote) return AccessSource::remote;
  const AccessSource by_number = source_of_level(source.mem_lvl_num);
  return by_number == AccessSource::other ? source_of_bits(source.mem_lvl) : by_number;
}

bool walked_page_tables(uint64_t encoded) {
  const union perf_mem_data_src source{.val = encoded};
  return (source.mem_dtlb & PERF_MEM_TLB_WK) != 0 ||
         ((source.mem_dtlb & PERF_MEM_TLB_MISS) != 0 && (source.mem_dtlb & PERF_MEM_TLB_L2) != 0);
}

Result<Profile> with_latencies_only(const Profile& profile) {
  if (profile.sampled_accesses.empty()) {
    return Error{fmt::format("no accesses to memory were recorded: {}", kHowToRecord)};
  }
  uint64_t samples = 0;
  uint64_t timed = 0;
  for (const SampledAccess& one : profile.sampled_accesses) {
    samples += one.samples;
    timed += one.timed;
  }
  if (timed == 0) {
    return Error{fmt::format("none of the {} accesses recorded has a latency: {}",
                             format_thousands(samples), kHowToRecord)};
  }
  Profile latencies = profile;
  latencies.events = {make_latency_event(kLatencyEvent, latencies)};
  for (const std::string_view name : kSourceEvents) {
    latencies.events.push_back(make_latency_event(name, latencies));
  }
  const EventId walk(latencies.events.size());
  latencies.events.push_back(make_latency_event(kWalkEvent, latencies));

  std::vector<HistogramRow> rows;
  for (const SampledAccess& one : profile.sampled_accesses) {
    if (one.timed == 0) continue;
    // A sum of so many samples, each of its own size: Poisson's, compounded.
    const auto variance = static_cast<double>(one.squared_latency);
    const auto add = [&](EventId id) {
      rows.push_back(
          {one.context, one.location, {id, one.timed, one.latency_cycles, variance}, one.object});
    };
    add(EventId(0u));
    add(EventId(1 + static_cast<size_t>(find_source(one.source))));
    if (walked_page_tables(one.source)) add(walk);
  }
  latencies.histograms = make_histograms(std::move(rows), latencies.events);
  if (samples != timed) {
    latencies.ledger.note(fmt::format("{} accesses recorded have no latency, and are not here",
                                      format_thousands(samples - timed)));
  }
  latencies.stack_counts.clear();
  latencies.kernel_stacks.clear();
  latencies.counts.clear();
  latencies.slice_counts.clear();
  latencies.sampled_accesses.clear();
  return latencies;
}

}  // namespace culprit
