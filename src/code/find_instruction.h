#pragma once

#include <algorithm>
#include <span>

#include "code/instruction.h"

namespace culprit {

/// The instruction that begins at `address`, of some that ascend; nullptr: none does.
inline const Instruction* find_instruction(std::span<const Instruction> instructions,
                                           LinkAddress address) {
  const auto found =
      std::lower_bound(instructions.begin(), instructions.end(), address,
                       [](const Instruction& one, LinkAddress at) { return one.address < at; });
  return found != instructions.end() && found->address == address ? &*found : nullptr;
}

}  // namespace culprit
