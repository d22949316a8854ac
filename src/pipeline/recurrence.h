#pragma once

// What a loop's chains of dependent instructions take: the recurrence that bounds an iteration.
//
//     L:  addsd %xmm1,%xmm0      4 cycles ─┐ each waits for the one of the iteration before:
//         dec   %ecx             1         │ 4 cycles per iteration, however many ports
//         jne   L                        ──┘ the CPU has

#include <span>
#include <vector>

#include "code/instruction_costs.h"

namespace culprit {

struct Recurrence {
  double cycles = 0;           // per iteration; 0: no instruction waits for an earlier iteration
  std::vector<double> shares;  // by instruction: its part of `cycles`, if it is on the chain
};

/// The slowest chain through the registers of a loop whose instructions run in this order,
/// again and again.
/// Units:  costs [cycles] -> [cycles per iteration]; `load_cycles`: of an address to its data
/// Errors: a lower bound by its operands alone: what goes through memory is not followed, loads
///         hit L1D, and the reorder window has no end
/// Source: a maximum cycle ratio, found by running the dependences for kIterations; as llvm-mca's
///         latency-bound loops
Recurrence find_recurrence(std::span<const InstructionCosts> loop, double load_cycles);

}  // namespace culprit
