#pragma once

// Instruction: one decoded machine instruction, as analyses and listings need it.

#include <cstdint>
#include <optional>
#include <string>

#include "base/address.h"
#include "code/operands.h"

namespace culprit {

/// Where control goes after an instruction.
enum class Flow : uint8_t {
  next,    // to the one after it (system calls too: they come back)
  jump,    // to a known target
  branch,  // to a known target, or on
  call,    // away and back; direct or indirect
  returns,
  indirect_jump,  // to a target in a register or memory: switches, tail calls
  trap,           // nowhere: ud2, int3, hlt, brk, udf; and undecodable bytes
};

struct Instruction {
  LinkAddress address;
  uint32_t size = 0;  // bytes
  Flow flow = Flow::next;
  bool bad = false;                         // undecodable: text is "(bad)"
  std::optional<LinkAddress> target;        // jump, branch, call: where known
  std::optional<LinkAddress> data_address;  // of a memory operand relative to the instruction
  Operands operands;
  std::string text;  // "mov    %rax,%rbx"

  [[nodiscard]] LinkAddress end() const { return address + size; }
};

}  // namespace culprit
