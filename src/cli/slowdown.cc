#include "cli/slowdown.h"

namespace culprit {

namespace {

/// With threads that run as they come.
Slowdown of_what_is_simulated(const RecordCommand& command) {
  const SimulateOptions& options = command.simulate;
  if (command.machine == "none") return {5, 60};
  if (options.sample_sets > 1) return {10, 70};
  const bool has_locality = options.locality != simulate::Locality::off;
  if (options.cycles) return has_locality ? Slowdown{100, 330} : Slowdown{80, 240};
  return has_locality ? Slowdown{55, 260} : Slowdown{40, 130};
}

}  // namespace

Slowdown expect_slowdown(const RecordCommand& command, bool has_threads) {
  // What turns cost depends on how often threads meet: nothing where one runs, most where they
  // hand one line, or one lock, to and fro.
  constexpr int kMostByTurns = 10;
  Slowdown slowdown = of_what_is_simulated(command);
  if (command.simulate.deterministic && has_threads) slowdown.most *= kMostByTurns;
  return slowdown;
}

}  // namespace culprit
