#pragma once

// The class of an x86 instruction (simulate/machine/instruction_class.h): which figure of a machine
// file it gets.

#include "simulate/costs/operands.h"
#include "simulate/machine/instruction_class.h"

namespace culprit::simulate {

/// `other`: none, as of all of aarch64's.
InstructionClass find_instruction_class(const Decoded& instruction);

/// Whether it works on a vector of 32 bytes or more. Machine files say what narrower ones take.
bool is_wide_vector(const Decoded& instruction);

}  // namespace culprit::simulate
