#pragma once

// RegisterNumbers: one number for each value that a program can hold in registers. Parts of a
// register (al, eax, rax; s0, d0, q0) have the number of the whole; what the core renames
// without a wait (stack pointer of pushes and calls) and what is never waited for (program
// counter, segment and control registers) have none. The stack of x87 is one value.

#include <llvm/MC/MCRegisterInfo.h>
#include <vector>

#include "simulate/machine/cycles.h"

namespace culprit::simulate {

class RegisterNumbers {
 public:
  explicit RegisterNumbers(const llvm::MCRegisterInfo& registers);

  /// kNoRegister if it has none.
  [[nodiscard]] Register operator[](llvm::MCRegister whole_or_part) const {
    return whole_or_part.id() < numbers_.size() ? numbers_[whole_or_part.id()] : kNoRegister;
  }

  /// kNoRegister where there is none.
  [[nodiscard]] Register x87_stack() const { return x87_stack_; }
  /// What x87's instructions change, and no others.
  [[nodiscard]] bool is_x87_status(llvm::MCRegister one) const {
    return x87_status_ != 0 && one.id() == x87_status_;
  }

 private:
  Register x87_stack_ = kNoRegister;
  unsigned x87_status_ = 0;
  std::vector<Register> numbers_;  // by LLVM's number
};

}  // namespace culprit::simulate
