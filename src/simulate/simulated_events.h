#pragma once

// The events of the simulator: their names (perf's, where perf has one) and how each follows
// from what the plugin counts at a site.

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/profile.h"
#include "simulate/counts/counts_file.h"

namespace culprit {

/// What a simulation models beside the program itself.
struct SimulatedDetail {
  bool machine = false;  // caches, TLBs
  bool cycles = false;   // its time; needs a machine
  bool sampled = false;  // only some of its cache sets; the others, TLBs, branches are left out
  bool windows = false;  // only in windows of the run
};

/// All that is known of a site.
struct SimulatedSite {
  const counts_file::Site& site;
  uint64_t executions = 0;
  const counts_file::SiteCounts& counts;
  const simulate::SiteTicks& ticks;
  const simulate::ReplayTicks& replays;
  double load_variance = 0;  // of a data object's share of them, where it is estimated
  double store_variance = 0;
};

struct SimulatedEvent {
  std::string_view name;
  Unit unit = Unit::events;
  double scale = 1;  // stored integers x scale = values in `unit`
  uint64_t (*value)(const SimulatedSite& site) = nullptr;
  bool is_estimate = false;    // of a sample: `value` is what fell into it
  bool is_of_data = false;     // it happens where data are, of an object
  bool is_of_windows = false;  // `value` is an estimate, of what was measured in windows
  double (*variance)(const SimulatedSite& site) = nullptr;  // if `value` may be another estimate
};

/// The events in the profile's order: what it sorts by, cycles if there are any, comes first.
std::vector<SimulatedEvent> simulated_events(SimulatedDetail detail);

}  // namespace culprit
