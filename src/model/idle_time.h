#pragma once

// How much of a whole machine's time its CPUs were idle, where that was measured: recordings and
// counts of whole CPUs.

#include <cstdint>
#include <optional>

#include "model/profile.h"

namespace culprit {

struct IdleTime {
  uint64_t idle_ns = 0;
  uint64_t capacity_ns = 0;  // wall time x CPUs
};

/// Adds it to what the profile has of earlier intervals.
void add_idle_time(Profile& profile, const IdleTime& time);
void erase_idle_time(Profile& profile);
/// Finds none where it was not measured, or makes no sense (more idle than there was).
std::optional<IdleTime> find_idle_time(const Profile& profile);

}  // namespace culprit
