#pragma once

// WindowEstimates: what a simulation in windows (--windows) says of the whole run, for one process.
// Costs per execution come from the windows, executions from the whole run:
//
//     value of an instruction = what the beginning had, which was measured whole
//                             + executions since then x  sum of the windows' values
//                                                        ────────────────────────────
//                                                        sum of the windows' executions
//
// each window weighted by the part of the run that it stands for. What memory had is counted
// between windows, too, as that goes through the caches: it is no estimate, though caches are not
// quite as the whole run has them. An instruction that ran since the beginning and that no window
// met has the beginning's cost per execution, as an estimate whose error is as large as itself; if
// the beginning has none, it is not covered, and has no value.
//
// Threads of a process share costs per execution.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulate/counts/windows_file.h"
#include "simulate/counts_reader.h"
#include "simulate/simulated_events.h"

namespace culprit {

class WindowEstimates {
 public:
  /// `events`: those whose errors are asked for.
  /// Errors: damaged windows.
  static Result<WindowEstimates> make(const CountsFile& counts,
                                      std::span<const SimulatedEvent> events);

  /// Whether there is anything to estimate: the process was not over with its beginning.
  [[nodiscard]] bool has_any() const { return has_any_; }

  /// Makes the values of what is modelled those of the whole run; they were the beginning's.
  void estimate(ThreadCounts& thread) const;

  /// The variance of the estimate of an event at a site, for a thread that ran it `executions`
  /// times since the beginning. A sum over the sites of a function, or over all of the process, is
  /// the variance of that sum; an instruction's is a share of its function's.
  /// Units:  executions -> the event's stored unit, squared
  /// Errors: by differences of successive windows; wider where a function is in few of them, as
  ///         Student's t is than the normal distribution's quantile, so that 1.96 roots hold 95 %
  /// Source: W. G. Cochran, Sampling Techniques (1977), 6.4 (ratio estimate); K. M. Wolter,
  ///         Introduction to Variance Estimation (2007), 8.2 (successive differences)
  [[nodiscard]] double variance(uint32_t site, size_t event, uint64_t executions) const;

 private:
  friend class WindowSums;

  bool has_any_ = false;
  size_t events_ = 0;
  std::vector<uint32_t> rows_;        // of sites, in what follows; 0: has no estimate
  std::vector<double> rates_;         // by row and value: per execution
  std::vector<double> variances_;     // by row and event: per execution
  std::vector<bool> is_not_covered_;  // by site
};

}  // namespace culprit
