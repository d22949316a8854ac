#pragma once

// How far a simulation is: a line on a terminal, and a message every ten seconds where there is
// none. Where the program has run natively before, its cycles tell which part is done: the model
// has its own of what ran so far.

#include <deque>
#include <optional>

#include "cli/terminal.h"
#include "simulate/simulate.h"

namespace culprit {

/// The part of a run that is done, and how long the rest takes.
struct RunForecast {
  double done = 0;  // 0 to 1
  double left_s = 0;
};

/// What is known of the run before it is simulated.
struct RunExpectation {
  double native_cycles = 0;  // 0: not known
  double most_s = 0;         // most programs take no longer; 0: not known
};

/// The rest takes as long, per cycle, as what ran since `before`: the beginning of a run in windows
/// is modelled whole, and takes ten times as long as what follows. Where that is more than twice
/// what most programs take, the model lacks most of the cycles: what most take is expected.
/// Errors: the model's cycles and the program's may differ by half; nothing before a hundredth is
///         done, and after nine tenths of what most programs take where cycles tell nothing
std::optional<RunForecast> forecast_run(const SimulateProgress& before, const SimulateProgress& now,
                                        const RunExpectation& expected);

class SimulationProgress {
 public:
  explicit SimulationProgress(const RunExpectation& expected) : expected_(expected) {}

  void show(const SimulateProgress& now);
  void clear() { line_.clear(); }

 private:
  /// What was known when half of the time had gone by, or a little before.
  [[nodiscard]] const SimulateProgress& find_half(const SimulateProgress& now);

  RunExpectation expected_;
  std::deque<SimulateProgress> earlier_{{}};
  double next_message_s_ = 10;
  ProgressLine line_;
};

}  // namespace culprit
