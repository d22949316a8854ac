#pragma once

// Measured CPU time of an iteration, from native runs at two loop counts, taken in pairs: what
// start-up takes drops out, and what changes slowly on the machine moves both runs of a pair.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cells.h"
#include "stats/estimate.h"

namespace culprit::scan {

/// CPU times of one pair of runs.
struct TimedPair {
  uint64_t least_ns = 0;
  uint64_t most_ns = 0;
};

struct PairedTimes {
  uint64_t least_runs = 0;  // loop counts
  uint64_t most_runs = 0;
  std::vector<TimedPair> pairs;
};

/// With fewer pairs no interval of 95 % is known (median_interval()).
inline constexpr size_t kLeastPairs = 6;

/// As it is kept in a label: loop counts, then a line for each pair.
std::string write_timing(const PairedTimes& timing);
/// nullopt: it is no such text.
std::optional<PairedTimes> parse_timing(std::string_view text);

/// The median of what the pairs say.
/// Units:  [ns / iteration]
/// Errors: half of the 95 % interval of the median, to its wider side, as a standard error;
///         nullopt with fewer than kLeastPairs pairs
/// Source: papers/parametric-evaluation, equation 3.1
std::optional<Estimate> estimate_time(const PairedTimes& timing, uint64_t iterations_per_run);

/// Of a cell that was timed.
std::optional<Estimate> find_time(const Cell& cell);

/// Half of the interval of 95 %, as a part of the value; infinite where the value is not above 0.
double relative_half_width(const Estimate& time);

}  // namespace culprit::scan
