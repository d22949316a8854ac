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
  bool needs_machine;  // comes from the model of caches, not from the program alone
  uint64_t (*value)(const counts_file::Site& site, uint64_t executions,
                    const counts_file::SiteCounts& counts);
};

/// In the order of the profile's events; the first is `instructions`, those that need a machine
/// come last.
std::span<const SimulatedEvent> simulated_events(bool with_machine);

}  // namespace culprit
