#pragma once

// What else ran on this machine, and what its hypervisor took: measurements beside neighbours are
// measurements of the neighbours, too.
//
//     const std::optional<BusyTime> before = read_busy_time();
//     ...
//     const Neighbours others = compute_neighbours(*before, *read_busy_time());

#include <cstdint>
#include <optional>

namespace culprit {

/// CPU time since the machine started.
struct BusyTime {
  uint64_t wall_ns = 0;    // of the clock, at this reading
  uint64_t busy_ns = 0;    // that CPUs worked, for whoever
  uint64_t stolen_ns = 0;  // that a hypervisor let others have
  uint64_t own_ns = 0;     // of `busy_ns`: this process and its children that have ended
};

/// CPUs, on average between two readings: 0.5 is half of one.
struct Neighbours {
  double busy_cpus = 0;    // that others kept busy
  double stolen_cpus = 0;  // that were not there
};

/// Nothing, where /proc is not there.
std::optional<BusyTime> read_busy_time();

/// Errors: to a tick (10 ms) of CPU time, which is 0.01 CPUs over a second
Neighbours compute_neighbours(const BusyTime& before, const BusyTime& after);

}  // namespace culprit
