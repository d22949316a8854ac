#pragma once

// A smaller profile, of what counts most, for where there is no room for all of it.

#include <cstddef>
#include <cstdint>

#include "model/profile.h"

namespace culprit {

/// How many places the histograms have, each thread's apart.
uint64_t count_places(const Profile& profile);

/// What keep_hottest() has left.
struct HottestPlaces {
  uint64_t kept = 0;
  uint64_t left_out = 0;
  double share = 1;  // of the first event, that the kept ones have
};

/// Leaves the profile the `most` places, each thread's apart, that have most of the first event
/// (with all their events), and counts of whole runs; nothing else that is counted: no stacks,
/// branches, tenures or samples of memory.
HottestPlaces keep_hottest(Profile& profile, uint64_t most);

}  // namespace culprit
