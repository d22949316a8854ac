#pragma once

// Who says best how often code ran.
//
//   counted             each execution: a simulator, instrumentation          exact      =
//   branch records      straight runs between taken branches                  sampled    ~
//   sampled             retired instructions                                  sampled    ~
//   time                samples of time or cycles: ratios in a function only  modelled   ?

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "model/profile.h"

namespace culprit {

enum class ExecutionSource : uint8_t { none, counted, branch_records, sampled, time };

/// "counted (simulated)", "sampled instructions", ... for a header.
std::string describe(ExecutionSource source);
/// "counted", "branch records", "sampled", "time", "none": for programs.
const char* word_of(ExecutionSource source);
Provenance provenance_of(ExecutionSource source);

/// The events of one profile that say it.
struct ExecutionEvents {
  ExecutionSource source = ExecutionSource::none;
  std::vector<size_t> events;     // of `profile()`: their sums are executions, or time
  std::unique_ptr<Profile> made;  // of branch records; else the profile itself
  const Profile* own = nullptr;

  [[nodiscard]] const Profile& profile() const { return made ? *made : *own; }
};

/// The best source that the profile has, or the best of those up to `at_most` (for comparing them):
/// with ExecutionSource::time, only time is taken.
/// `profile` and `facts` must outlive the result.
ExecutionEvents find_executions(const Profile& profile, const FactsLookup& facts,
                                ExecutionSource at_best = ExecutionSource::counted);

}  // namespace culprit
