#include "simulate/slowdown.h"

#include <cmath>

namespace culprit {

namespace {

/// The slow-down where threads run as they come.
Slowdown of_what_is_simulated(const SimulateOptions& options, bool has_machine) {
  if (!has_machine) return {5, 60};
  if (options.sample_sets > 1) {  // a program may end before the sample begins
    return options.sample_first == 0 ? Slowdown{10, 70} : Slowdown{10, 260};
  }
  if (options.windows.are_wanted()) return {8, 40};
  const bool has_locality = options.locality != simulate::Locality::off;
  if (options.cycles) return has_locality ? Slowdown{100, 330} : Slowdown{80, 240};
  return has_locality ? Slowdown{55, 260} : Slowdown{40, 130};
}

}  // namespace

Slowdown expect_slowdown(const SimulateOptions& options, bool has_machine, bool has_threads) {
  // What turns cost depends on how often threads meet: nothing where one runs, most where they
  // hand one line, or one lock, to and fro.
  constexpr int kMostByTurns = 10;
  Slowdown slowdown = of_what_is_simulated(options, has_machine);
  if (options.deterministic && has_threads) slowdown.most *= kMostByTurns;
  return slowdown;
}

bool takes_minutes(const Slowdown& slowdown, double cpu_ns) {
  constexpr double kMinuteNs = 60e9;
  const double usual = std::sqrt(static_cast<double>(slowdown.least) * slowdown.most);
  return usual * cpu_ns > kMinuteNs;
}

}  // namespace culprit
