#pragma once

// Kernels that calibrate checks its figures by: programs of their own (validate/kernels), of which
// no figure is made. Each is run on this machine and in its model.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/machine/machine.h"

namespace culprit {

struct CheckKernel {
  std::string name;    // for people: "chase 4 MiB"
  std::string kernel;  // of culprit_kernels
  uint64_t rounds = 0;
  uint64_t bytes = 0;
  std::vector<std::string> keys;  // "l3.latency_cycles": figures that it depends on
};

/// The kernels have the sizes of this machine's caches.
std::vector<CheckKernel> list_check_kernels(const simulate::MachineModel& machine,
                                            uint64_t most_bytes);

/// How kernels are run: who calls select_figures() knows where programs and emulators are.
struct KernelRuns {
  /// Cycles of the core's clock per round, on this machine; nullopt: it failed.
  std::function<std::optional<double>(const CheckKernel& kernel)> measure;
  /// The model's cycles for it.
  std::function<Result<double>(const CheckKernel& kernel, const simulate::MachineModel& machine)>
      model;
};

}  // namespace culprit
