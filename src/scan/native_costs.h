#pragma once

// What an iteration costs natively, in CPU time or in events that the kernel counts, from native
// runs at two loop counts, taken in pairs: what start-up costs drops out, and what changes slowly
// on the machine moves both runs of a pair.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cells.h"
#include "stats/estimate.h"

namespace culprit::scan {

/// Two runs, one after the other. Units: [ns] of CPU time, or [count] of an event
struct CountPair {
  uint64_t least = 0;
  uint64_t most = 0;
};

struct PairedCounts {
  uint64_t least_runs = 0;  // loop counts
  uint64_t most_runs = 0;
  std::vector<CountPair> pairs;
};

/// With fewer pairs no interval of 95 % is known (median_interval()).
inline constexpr size_t kLeastPairs = 6;

/// Measured CPU time of an iteration, as expressions name it. Units: [ns]
inline constexpr std::string_view kTime = "time_ns";
/// Events that native runs counted are named so before the event's name: "native:cycles:u".
inline constexpr std::string_view kNativePrefix = "native:";

/// As it is kept in a label: loop counts, then a line for each pair.
std::string write_pairs(const PairedCounts& counts);
/// nullopt: it is no such text.
std::optional<PairedCounts> parse_pairs(std::string_view text);

/// The median of what the pairs say.
/// Units:  [ns / iteration], [count / iteration]
/// Errors: half of the 95 % interval of the median, to its wider side, as a standard error;
///         nullopt with fewer than kLeastPairs pairs
/// Source: papers/parametric-evaluation, equation 3.1
std::optional<Estimate> estimate_cost(const PairedCounts& counts, uint64_t iterations_per_run);

/// The label of a cell that keeps the pairs of what is named so; "": it names nothing of native
/// runs.
std::string find_native_label(std::string_view name);

/// What native runs of a cell measured: all names that a cell has values of.
std::vector<std::string> list_native_names(const Cell& cell);

/// Of a cell in whose native runs it was measured: kTime, or an event behind kNativePrefix.
std::optional<Estimate> find_native_cost(const Cell& cell, std::string_view name);

/// Half of the interval of 95 %, as a part of the value; infinite where the value is not above 0.
double relative_half_width(const Estimate& cost);

/// Whether the 95 % interval of an event's count in an iteration is within so many percent of the
/// count, or of one event: of what seldom happens no more need be known.
bool is_within(const Estimate& count, double percent);

}  // namespace culprit::scan
