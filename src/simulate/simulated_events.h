#pragma once

// The events of the simulator: their names (perf's, where perf has one) and how each follows
// from what the plugin counts at a site.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/profile.h"
#include "simulate/plugin/counts_file.h"

namespace culprit {

struct SimulatedEvent {
  std::string_view name;
  Unit unit;
  uint64_t (*value)(const counts_file::Site& site, uint64_t executions,
                    const counts_file::SiteCounts& counts);
};

/// In the order of the profile's events; the first is `instructions`.
std::span<const SimulatedEvent> simulated_events();

}  // namespace culprit
