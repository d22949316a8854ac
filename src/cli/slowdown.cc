#include "cli/slowdown.h"

namespace culprit {

Slowdown expect_slowdown(const RecordCommand& command) {
  const SimulateOptions& options = command.simulate;
  if (command.machine == "none") return {5, 60};
  if (options.sample_sets > 1) return {10, 70};
  if (options.cycles) return {80, 240};
  return options.locality == simulate::Locality::off ? Slowdown{40, 130} : Slowdown{55, 260};
}

}  // namespace culprit
