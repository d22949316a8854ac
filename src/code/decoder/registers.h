#pragma once

// RegisterTable: LLVM's registers as ours. Parts of a register (al, eax, rax; s0, d0, q0) have the
// number of the whole; what is never waited for (program counter, segment and control registers)
// has none. The stack of x87 is one value.

#include <llvm/MC/MCInstrDesc.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <vector>

#include "code/operands.h"

namespace culprit {

/// One of LLVM's registers, as a part of one of ours.
struct RegisterPart {
  Register reg = kNoRegister;
  uint8_t bits = 0;           // of a general register; 0: it is none
  bool is_high_byte = false;  // ah, bh, ch, dh
  bool is_zero = false;       // xzr, wzr
  bool is_counter = false;    // rip
  bool is_flags = false;
};

class RegisterTable {
 public:
  RegisterTable(bool is_x86, const llvm::MCRegisterInfo& registers);

  [[nodiscard]] const RegisterPart& operator[](llvm::MCRegister one) const {
    return parts_[one.id() < parts_.size() ? one.id() : 0];
  }

  /// kNoRegister where there is none.
  [[nodiscard]] Register x87_stack() const { return x87_stack_; }
  /// What x87's instructions change, and no others.
  [[nodiscard]] bool is_x87_status(llvm::MCRegister one) const {
    return x87_status_ != 0 && one.id() == x87_status_;
  }
  /// Whether an operand of aarch64 is one that may be the stack pointer: bases of addresses may
  /// be, data and indices may not.
  [[nodiscard]] bool is_base(const llvm::MCOperandInfo& operand) const {
    return base_class_ >= 0 && operand.RegClass == base_class_;
  }

 private:
  Register x87_stack_ = kNoRegister;
  unsigned x87_status_ = 0;
  int base_class_ = -1;
  std::vector<RegisterPart> parts_;  // by LLVM's number; 0 is no register
};

}  // namespace culprit
