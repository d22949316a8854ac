#pragma once

// SampleRegions: which region a thread was in when it was sampled. Whoever measures regions
// implements it (collect/regions); whoever samples asks it.
//
//     take()           before records are followed: reads what threads have told meanwhile
//     find()           for each sample, in the order of time
//     forget_before()  nobody asks about earlier times any more

#include <cstdint>
#include <functional>

#include "base/address.h"
#include "model/builder.h"

namespace culprit {

/// Threads that change regions all the time overwrite what they told: take() at least so often.
inline constexpr uint64_t kTakeRegionsEveryNs = 20'000'000;

class SampleRegions {
 public:
  /// The place of an address of the sampled process.
  using Locate = std::function<Location(RunAddress)>;

  virtual ~SampleRegions() = default;

  virtual void take() = 0;
  /// The innermost region, a row of the builder's profile; none: outside of all regions. What
  /// cannot be told is a region of its own (region::kNotKnown).
  /// Units:  time_ns [ns] of CLOCK_MONOTONIC
  virtual RegionId find(uint32_t pid, uint32_t tid, uint64_t time_ns, const Locate& locate,
                        ProfileBuilder& builder) = 0;
  /// The process runs another program from there on: it is in no region.
  virtual void exec(uint32_t pid, uint64_t time_ns) = 0;
  /// One of its threads ended there.
  virtual void exit(uint32_t pid, uint64_t time_ns) = 0;
  virtual void forget_before(uint64_t time_ns) = 0;
};

}  // namespace culprit
