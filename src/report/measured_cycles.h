#pragma once

// The difference between what was measured and what was modelled, of a profile that has both
// (record --engine timer+simulate).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/report.h"

namespace culprit {

/// How well a model's cycles are those measured, over the functions of user code. Those with fewer
/// samples than kLeastSamples are taken together: that their sum fits says little of each.
struct ModelFit {
  double judged = 0;    // measured in functions that have enough samples [cycles]
  double fitting = 0;   // of them: in those whose modelled cycles differ by at most kLargestMisfit
                        // of the measured ones, or by what chance explains, of
                        // samples and of windows
  double together = 0;  // measured in the others, if they have enough samples together [cycles]
  bool together_fits = false;  // their sum is so near the modelled one
  double missing = 0;          // measured beyond the modelled ones, where that is so [cycles]
  double excess = 0;           // modelled beyond the measured ones, where that is so [cycles]
};
inline constexpr uint64_t kLeastSamples = 100;
inline constexpr double kLargestMisfit = 0.25;

/// Samples of the native run on functions that the simulated run did not execute.
struct OtherCode {
  uint64_t variants = 0;              // in variants of what it did execute, joined with these
  std::vector<std::string> families;  // which: "memmove"; sorted
  uint64_t not_executed = 0;          // in functions of which it executed no variant
  std::map<std::string, uint64_t> by_module;  // of not_executed
};

/// Cycles by time and clock of a native run beside those that a model of the same run says.
struct MeasuredCycles {
  Estimate measured;
  uint64_t samples = 0;  // that it is of
  Estimate kernel;       // of measured: in the kernel, which is not simulated
  Estimate modelled;     // its error is that of windows, if only these were modelled
  Estimate unexplained;  // measured - kernel - modelled; its error without the clock's
  ModelFit fit;          // variants of one function (variants.h) are one
  OtherCode other;
  Estimate everything;  // measured of the whole profile
};

/// The profile's events that are both runs' cycles; nullopt unless it has both and a clock.
struct TwoRuns {
  size_t time;                   // sampled ns
  double cycles_per_ns;          // by the clock
  size_t instructions;           // counted by the simulator
  std::optional<size_t> cycles;  // of its model
};
std::optional<TwoRuns> find_two_runs(const Profile& profile);

/// Measured cycles per executed instruction of a row.
/// Units:  -> [cycles/instruction]
/// Errors: of the number of samples; nullopt without samples or executions
std::optional<Estimate> estimate_cpi(const TwoRuns& runs, const std::vector<Value>& values);

/// Finds the measured cycles of all rows of a table that is by module and function.
std::optional<MeasuredCycles> find_measured_cycles(const Profile& profile,
                                                   const ReportTable& table);

}  // namespace culprit
