#pragma once

// How much longer than natively a simulated run takes, to be said before it.

#include "simulate/simulate.h"

namespace culprit {

/// How many times the native run's CPU time the simulation takes.
struct Slowdown {
  int least = 0;
  int most = 0;
};

/// Most programs are within it. `has_machine`: caches are modelled; `has_threads`: the program has
/// more than one, or may have.
/// Source: nine of ten programs of bench/simulate.py, by what is simulated; with --deterministic
///         those of bench/simulated_order.py, by how often threads meet; with windows
///         bench/windows.py
Slowdown expect_slowdown(const SimulateOptions& options, bool has_machine, bool has_threads = true);

/// Whether a program with `cpu_ns` of CPU time takes more than one minute, if it is neither among
/// the fast nor among the slow: by the geometric mean of both.
bool takes_minutes(const Slowdown& slowdown, double cpu_ns);

}  // namespace culprit
