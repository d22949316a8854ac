#pragma once

// How much longer than natively a simulated run takes, to be said before it.

#include "cli/options/command_line.h"

namespace culprit {

/// In CPU time, against the native run.
struct Slowdown {
  int least = 0;
  int most = 0;
};

/// Most programs' are within it.
/// Source: nine of ten programs of bench/simulate.py, by what is simulated
Slowdown expect_slowdown(const RecordCommand& command);

}  // namespace culprit
