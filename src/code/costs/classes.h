#pragma once

// The class of an x86 instruction (code/instruction_class.h): which figure of a machine file it
// gets.

#include "code/decoder/llvm_machinery.h"
#include "code/instruction_class.h"

namespace culprit {

/// `other`: none, as of all of aarch64's.
InstructionClass find_instruction_class(const DecodedInstruction& instruction,
                                        const Operands& operands);

/// Whether it works on a vector of 32 bytes or more. Machine files say what narrower ones take.
bool is_wide_vector(const DecodedInstruction& instruction);

}  // namespace culprit
