#pragma once

// How much longer than natively a simulated run takes, to be said before it.

#include "cli/options/command_line.h"

namespace culprit {

/// In CPU time, against the native run.
struct Slowdown {
  int least = 0;
  int most = 0;
};

/// Most programs' are within it. `has_threads`: it has more than one, or may have.
/// Source: nine of ten programs of bench/simulate.py, by what is simulated; with --deterministic
///         those of bench/simulated_order.py, by how often threads meet
Slowdown expect_slowdown(const RecordCommand& command, bool has_threads = true);

}  // namespace culprit
