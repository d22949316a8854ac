#pragma once

// CostSource: where the static costs of code come from. Behind it is LLVM's scheduling model
// (code/costs), in a shared object of its own that is loaded only if cycles are wanted.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "simulate/machine/cycles.h"

namespace culprit::simulate {

class CostSource {
 public:
  virtual ~CostSource() = default;

  /// Costs of the instructions of a block, each given by its bytes, in their order.
  /// Shape:  `known[i]`: false if the model does not know the instruction; it has the default
  ///         costs then. Both spans as long as `code`.
  virtual BlockCosts compute_costs(std::span<const std::span<const uint8_t>> code,
                                   std::span<InstructionCosts> costs, std::span<bool> known) = 0;
};

/// What the shared object exports by the name kMakeCostSource. `target`: as QEMU names it; `cpu`:
/// as LLVM names it, "" for a common one; `timings`: what the machine knows better. nullptr:
/// `problem` says why.
using MakeCostSource = CostSource* (*)(const char* target, const char* cpu,
                                       const InstructionTimings& timings, std::string& problem);
inline constexpr const char* kMakeCostSource = "culprit_make_cost_source";
inline constexpr const char* kCostsLibrary = "libculprit_costs.so";

}  // namespace culprit::simulate
