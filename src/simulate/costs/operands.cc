#include "simulate/costs/operands.h"

#include <algorithm>
#include <llvm/MC/MCInstrDesc.h>

namespace culprit::simulate {
namespace {

/// Adds it unless it is there, is none, or there is no more room.
template <size_t N>
void add(std::array<Register, N>& registers, Register one) {
  if (one == kNoRegister) return;
  for (Register& place : registers) {
    if (place == one) return;
    if (place != kNoRegister) continue;
    place = one;
    return;
  }
}

/// The stack pointer of these is computed ahead, by the front end (x86: stack engine).
bool moves_stack(const Decoded& instruction) {
  const std::string_view name = instruction.name;
  return name.starts_with("PUSH") || name.starts_with("POP") || name.starts_with("CALL") ||
         name.starts_with("RET") || name.starts_with("LRET");
}

/// Whether an instruction of x86 writes a byte or a word of a register without reading it: the rest
/// stays.
bool writes_part(const Decoded& instruction) {
  const std::string_view name = instruction.name;
  return name.starts_with("MOV8r") || name.starts_with("MOV16r") || name == "SETCCr";
}

/// Whether an instruction of aarch64 writes its base back, as ldr x0, [x1], #8 does; the base is
/// its first operand.
bool writes_base_back(const Decoded& instruction) {
  const std::string_view name = instruction.name;
  return name.ends_with("post") || name.ends_with("pre") || name.ends_with("_POST");
}

/// x86 marks the operands of an address. On aarch64 loads have no others than those of
/// addresses, and stores begin with the data.
bool is_address(const Decoded& instruction, unsigned operand, bool any_marked) {
  if (any_marked) {
    return instruction.facts.operands()[operand].OperandType == llvm::MCOI::OPERAND_MEMORY;
  }
  return instruction.facts.mayLoad();
}

/// Instructions name the x87 stack in part only, so that its operands are added here. Loads begin a
/// new value.
void add_x87_operands(const Decoded& instruction, const RegisterNumbers& numbers,
                      InstructionCosts& costs) {
  const std::string_view name = instruction.name;
  const bool is_load = name.starts_with("LD_F") && !name.starts_with("LD_Frr");
  const bool is_exchange = name.starts_with("XCH_F");
  if (is_load || is_exchange || name.starts_with("ILD_F")) {
    if (!is_exchange) add(costs.writes, numbers.x87_stack());
    return;
  }
  add(costs.reads, numbers.x87_stack());
  if (!instruction.facts.mayStore()) add(costs.writes, numbers.x87_stack());
}

}  // namespace

void find_operands(const Decoded& instruction, const RegisterNumbers& numbers,
                   InstructionCosts& costs) {
  const llvm::MCInstrDesc& facts = instruction.facts;
  const unsigned definitions = facts.getNumDefs();
  const auto described = facts.operands();
  const bool any_marked = std::any_of(described.begin(), described.end(), [](const auto& operand) {
    return operand.OperandType == llvm::MCOI::OPERAND_MEMORY;
  });
  const bool breaks = is_zero_idiom(instruction);
  for (unsigned i = 0; i < instruction.inst.getNumOperands(); ++i) {
    const llvm::MCOperand& operand = instruction.inst.getOperand(i);
    if (!operand.isReg() || operand.getReg() == 0) continue;
    const Register number = numbers[operand.getReg()];
    if (i == 0 && writes_base_back(instruction)) {
      costs.updates = number;
    } else if (i < definitions) {
      add(costs.writes, number);
    } else if (i < described.size() && is_address(instruction, i, any_marked)) {
      add(costs.addresses, number);
    } else if (!breaks) {
      add(costs.reads, number);
    }
  }
  if (writes_part(instruction)) add(costs.reads, costs.writes[0]);
  const auto changes = facts.implicit_defs();
  if (std::any_of(changes.begin(), changes.end(),
                  [&](llvm::MCPhysReg reg) { return numbers.is_x87_status(reg); })) {
    add_x87_operands(instruction, numbers, costs);
  }
  if (moves_stack(instruction)) return;
  for (const llvm::MCPhysReg reg : facts.implicit_uses()) {
    if (facts.mayLoad() && !any_marked) {
      add(costs.addresses, numbers[reg]);
    } else if (!breaks) {
      add(costs.reads, numbers[reg]);
    }
  }
  for (const llvm::MCPhysReg reg : facts.implicit_defs()) add(costs.writes, numbers[reg]);
}

bool is_zero_idiom(const Decoded& instruction) {
  constexpr std::string_view kKinds[] = {
      "XOR32rr", "XOR64rr", "SUB32rr", "SUB64rr", "PXORrr", "VPXORrr", "VPXORYrr", "XORPSrr",
      "XORPDrr", "VXORPSrr", "VXORPDrr", "VXORPSYrr", "VXORPDYrr", "PSUBDrr", "PSUBQrr",
      "PCMPGTBrr", "PCMPGTDrr", "PSUBBrr", "PSUBWrr", "VPXORDZrr", "VPXORQZrr",
      // All ones, which depends on nothing, either.
      "PCMPEQBrr", "PCMPEQWrr", "PCMPEQDrr", "VPCMPEQBrr", "VPCMPEQWrr", "VPCMPEQDrr",
      "VPCMPEQBYrr", "VPCMPEQWYrr", "VPCMPEQDYrr"};
  if (std::find(std::begin(kKinds), std::end(kKinds), instruction.name) == std::end(kKinds)) {
    return false;
  }
  const llvm::MCInst& inst = instruction.inst;
  const unsigned last = inst.getNumOperands() - 1;
  return last >= 1 && inst.getOperand(last).isReg() && inst.getOperand(last - 1).isReg() &&
         inst.getOperand(last).getReg() == inst.getOperand(last - 1).getReg();
}

}  // namespace culprit::simulate
