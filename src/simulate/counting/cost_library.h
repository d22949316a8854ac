#pragma once

// The library with the costs of instructions (simulate/costs), loaded when cycles are wanted.

#include <string>

#include "base/result.h"
#include "simulate/machine/cost_source.h"

namespace culprit::counting {

/// `cpu`: as LLVM names it; `timings`: what the machine knows better. What is loaded lives to the
/// end of the process. Errors: it cannot be loaded; it does not know the CPU.
Result<simulate::CostSource*> load_costs(const std::string& path, const std::string& architecture,
                                         const std::string& cpu, const InstructionTimings& timings);

}  // namespace culprit::counting
