#pragma once

// Ports that are busy because of a chain.
//
//     L:  mul %rcx     3 cycles of the one port that multiplies, and 3 until rax is there
//         mul %rcx
//         jne L
//
// A port and a chain of the same length take the same time, and a model that asks ports first
// names them. But where each instruction that the port works on needs what the one before it
// computed, no two of them ever ask for the port at once: a second port would save nothing, the
// chain is what they wait for.

#include <vector>

#include "flow/function_flow.h"
#include "stalls/stall_evidence.h"

namespace culprit {

/// Moves the cycles of ports to the chain in such loops. Only loops of one block are looked at,
/// and only registers: what goes through memory is not followed.
/// Shape:  `instructions`: of the function
void move_ports_to_chains(const FunctionGraph& function,
                          std::vector<InstructionEvidence>& instructions);

}  // namespace culprit
