#pragma once

// What is timed beside walks. Each returns nanoseconds of the thread's CPU time per step.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/chase.h"

namespace culprit {

/// Reads all of it, again and again, for about `aim_ns`.
/// Units:  -> [ns per byte]
double measure_reading_ns(const Memory& memory, double aim_ns);

/// A branch on each value: above half or not.
/// Units:  -> [ns per branch]
double measure_branches_ns(const std::vector<uint8_t>& values);

/// Loads, independent of each other, of lines 4 KiB apart: one set of L1D takes them all.
/// Units:  -> [ns per load]
double measure_one_set_ns(const Memory& memory);

/// A line goes to and fro between two CPUs that write it in turn.
/// Units:  -> [ns of the clock on the wall, one way]; nullopt: there is no second CPU for us
std::optional<double> measure_transfer_ns();

}  // namespace culprit
