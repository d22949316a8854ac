#include "cli/slowdown.h"

namespace culprit {

Slowdown expect_slowdown(const RecordCommand& command) {
  const SimulateOptions& options = command.simulate;
  if (command.machine == "none") return {5, 60};
  if (options.sample_sets > 1) return {10, 70};
  const bool has_locality = options.locality != simulate::Locality::off;
  if (options.cycles) return has_locality ? Slowdown{100, 330} : Slowdown{80, 240};
  return has_locality ? Slowdown{55, 260} : Slowdown{40, 130};
}

}  // namespace culprit
