#pragma once

// What was counted in each construct, by thread: the events of the profile's histograms, whose
// contexts say in which region they happened.

#include <string>
#include <vector>

#include "regions/regions_report.h"

namespace culprit {

/// Fills the report's counters and the counts of its constructs, call paths and program. `events`:
/// their names; empty: those that say most, if the profile has them exactly. `objects`: by row of
/// the profile's objects, those whose accesses alone are counted; nullptr: all counts. Errors: the
/// profile has no such event
Result<void> add_counters(const Profile& profile, const std::vector<std::string>& events,
                          const std::vector<bool>* objects, RegionsReport& report);

}  // namespace culprit
