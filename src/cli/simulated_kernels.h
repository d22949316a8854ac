#pragma once

// Kernels of culprit_kernels under the software PMU: what `validate` counts. The small build has
// none.

#include <map>
#include <string>

#include "base/result.h"
#include "cli/kernel_program.h"
#include "recording/run_control.h"
#include "simulate/machine/machine.h"
#include "validate/families.h"

namespace culprit {

class SimulatedKernels {
 public:
  /// `machine`: as --machine takes it.
  /// Errors: no such machine; nothing can be simulated here
  static Result<SimulatedKernels> open(const std::string& program, const std::string& machine,
                                       RunControl& control);

  [[nodiscard]] CacheSizes sizes() const;
  /// All events of a run, by name, in their own units.
  Result<std::map<std::string, double>> count(const KernelRun& run) const;

 private:
  std::string program_;
  simulate::MachineModel machine_;
  RunControl* control_ = nullptr;
};

}  // namespace culprit
