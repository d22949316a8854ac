#pragma once

// What an instruction works on: the registers that it reads, those of them that make an address,
// and those that it writes.

#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <string_view>

#include "simulate/costs/registers.h"
#include "simulate/machine/cycles.h"

namespace culprit::simulate {

/// One decoded instruction, with LLVM's facts about its kind.
struct Decoded {
  const llvm::MCInst& inst;
  const llvm::MCInstrDesc& facts;
  std::string_view name;  // of the opcode, as LLVM has it: "ADD64rm"
  bool is_locked = false;
  bool repeats = false;  // it has a rep prefix
};

/// Fills reads, addresses, writes and updates of `costs`.
void find_operands(const Decoded& instruction, const RegisterNumbers& numbers,
                   InstructionCosts& costs);

/// Whether its result does not depend on what it reads (xor of a register with itself).
bool is_zero_idiom(const Decoded& instruction);

}  // namespace culprit::simulate
