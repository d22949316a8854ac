#pragma once

// A decoded instruction → its operands and kinds (code/operands.h).

#include <optional>

#include "code/decoder/llvm_machinery.h"
#include "code/operands.h"

namespace culprit {

Operands read_operands(const DecodedInstruction& instruction, const LlvmMachinery& machinery);

/// Whether its result does not depend on what it reads (xor of a register with itself).
bool is_zero_idiom(const DecodedInstruction& instruction);

/// LLVM's five operands of an address of x86. Registers are LLVM's, 0 where there is none.
struct X86Address {
  unsigned base = 0;
  uint64_t scale = 1;
  unsigned index = 0;
  int64_t displacement = 0;
  unsigned segment = 0;
};
/// Those at [at, at + 5) of the instruction's; nothing, if these are others.
std::optional<X86Address> read_x86_address(const llvm::MCInst& inst, unsigned at);

}  // namespace culprit
