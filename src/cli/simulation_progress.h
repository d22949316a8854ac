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

/// The rest takes as long, per cycle, as what ran since `before`: the beginning of a run in windows
/// is modelled whole, and takes ten times as long as what follows.
/// Errors: the model's cycles and the program's may differ by half; nothing before a hundredth is
///         done
std::optional<RunForecast> forecast_run(const SimulateProgress& before, const SimulateProgress& now,
                                        double native_cycles);

class SimulationProgress {
 public:
  /// `native_cycles` 0: not known.
  explicit SimulationProgress(double native_cycles) : native_cycles_(native_cycles) {}

  void show(const SimulateProgress& now);
  void clear() { line_.clear(); }

 private:
  /// What was known when half of the time had gone by, or a little before.
  [[nodiscard]] const SimulateProgress& find_half(const SimulateProgress& now);

  double native_cycles_;
  std::deque<SimulateProgress> earlier_{{}};
  double next_message_s_ = 10;
  ProgressLine line_;
};

}  // namespace culprit
