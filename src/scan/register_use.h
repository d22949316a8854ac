#pragma once

// Whether values are on the stack because there were no registers for them. Compilers spill what no
// register is left for; what is volatile, or has its address taken, is on the stack beside free
// registers, and costs the same instructions.
//
//     addl %esi, 0xc(%rsp)      a variable, or one of sixteen sums?
//
// Seven registers in use beside eight free ones, and no more in the other cell, which needs no
// stack: a variable.

#include <string>
#include <string_view>
#include <vector>

#include "scan/code_pairs.h"

namespace culprit::scan {

/// Registers of one class, general or vector.
struct RegisterUse {
  size_t registers = 0;       // that executed instructions name, without the stack pointer
  double stack_accesses = 0;  // an iteration's, of registers of this class, at fixed places
};

/// What the code of one side uses, by class: general, vector. Arrays (an index beside the stack
/// pointer) are no accesses to the stack here. x86-64 (AT&T's syntax) and AArch64.
std::vector<RegisterUse> find_register_use(const std::vector<CodePair>& code, bool of_a);

/// The general register of x86-64 that an operand is, under one name for all its widths: "%esi" →
/// "si"; "" if it is none.
std::string general_register(std::string_view operand);

/// Whether the side that accesses the stack more lacked registers for it: nearly all of that class
/// are in use, or the other side has what this one could not use. Where it loads what registers
/// hold already (stack_slots.h) its variables have to be in memory.
bool lacks_registers(const std::vector<CodePair>& code, bool is_a_worse);

}  // namespace culprit::scan
