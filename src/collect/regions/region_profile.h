#pragma once

// What processes told of their regions → rows of a Profile: Region, RegionValue, and the images,
// processes and threads that the recording has not met itself.

#include <cstddef>
#include <string>
#include <vector>

#include "collect/regions/region_files.h"
#include "collect/regions/region_rows.h"
#include "model/profile.h"

namespace culprit {

/// What was asked for beyond constructs.
struct RegionsAsked {
  std::vector<std::string> functions;  // their names
  std::vector<EventId> counters;       // rows of the profile
};

/// Adds to the last run of `profile`. `tick_ns`: the length of a tick of the CPU's counter. `rows`:
/// those that the profile has already. Returns what the user should know at once.
std::vector<std::string> add_regions(const RegionFiles& files, double tick_ns,
                                     const RegionsAsked& asked, RegionRows& rows, Profile& profile);

/// The constructs among the profile's regions.
size_t count_constructs(const Profile& profile);

}  // namespace culprit
