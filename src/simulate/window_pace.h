#pragma once

// WindowPace: how much of a run may be in windows, so that it ends within a budget. Before the run
// that is foretold; on its way it is seen how long a part of it takes, on this machine, beside what
// else runs there.
//
//     20 s of 60 are gone, a third is done with a fifth of it in windows:
//     a fifth and the counting go on at 60 s for all; 0.95 x 60 - 20 = 37 s are left for the rest

#include <cstdint>

namespace culprit {

class WindowPace {
 public:
  /// `cpu_ns`: what the program takes natively.
  WindowPace(double budget_ns, double cpu_ns);

  /// Which part of the instructions may be in windows [per million].
  [[nodiscard]] uint32_t share() const { return share_; }
  /// Chooses it anew: after `elapsed_ns` the part `done` of the run is done [0 to 1], as far as
  /// that is known. What is done by the first call does not count: a run's beginning is modelled
  /// whole.
  void look(double elapsed_ns, double done);

 private:
  double budget_ns_;
  double cpu_ns_;
  uint32_t share_;
  bool has_begun_ = false;
  double last_ns_ = 0;
  double last_done_ = 0;
  double slowness_ = 0;  // time taken, beside what was foretold of it; 0: not known yet
};

}  // namespace culprit
