#pragma once

#include "model/profile.h"

namespace culprit {

/// A label of runs that did not run as themselves, and what it says of those of a simulator.
inline constexpr const char* kEngineLabel = "engine";
inline constexpr const char* kSimulated = "simulate";

/// Whether a simulator ran it: times are the simulator's then, not the program's.
bool is_simulated(const Profile& profile, const Run& run);

}  // namespace culprit
