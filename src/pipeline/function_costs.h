#pragma once

// The code of one function with what each instruction costs.

#include <optional>
#include <vector>

#include "attribute/code_index.h"
#include "code/costs/cost_model.h"

namespace culprit {

struct FunctionCosts {
  Disassembly code;
  // Parallel to code.instructions:
  std::vector<InstructionCosts> costs;
  std::vector<std::vector<PortUse>> uses;
  std::vector<bool> is_known;  // to the scheduling model
};

/// The result is none without the function's code.
std::optional<FunctionCosts> find_function_costs(CodeIndex& index, ImageId image,
                                                 const FunctionFact& function, CostModel& model);

/// What a sequence of instructions takes if no operand is waited for: the largest of its
/// uops / width, its busiest port and its divisions. Instructions come from a cache of
/// micro-operations, as they do in loops.
/// Units:  -> [cycles] per execution of all of them
double throughput_cycles(const FunctionCosts& function, const std::vector<size_t>& instructions,
                         double dispatch_width);

}  // namespace culprit
