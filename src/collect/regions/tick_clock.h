#pragma once

// The clock of the shim's ticks: the CPU's time stamp counter where it is steady, which costs a
// quarter of what CLOCK_MONOTONIC does, else CLOCK_MONOTONIC.

#include <cstdint>

namespace culprit {

/// Whether the counter that rdtsc reads runs at one speed, in step on all CPUs, as the kernel
/// says: by the CPU's flags, and because its own clock is made of it.
bool has_steady_counter();

/// A moment by both clocks.
struct ClockMoment {
  uint64_t monotonic_ns = 0;
  uint64_t ticks = 0;  // 0 where there is no such counter
};

/// The one of three readings that took the shortest time.
ClockMoment read_both_clocks();

/// Length of a tick between two moments, at least 10 ms apart.
/// Units:  -> [ns/tick]
double compute_tick_ns(const ClockMoment& first, const ClockMoment& last);

}  // namespace culprit
