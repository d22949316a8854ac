// LLVM's tables say which operands an instruction reads and writes, and whether it may access
// memory. What they leave out or have otherwise is decided by the names that they give the forms of
// instructions.

#include "code/decoder/operand_reader.h"

#include <algorithm>
#include <array>
#include <llvm/MC/MCInstrDesc.h>
#include <string_view>

namespace culprit {
namespace {

template <size_t N>
bool is_any(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <size_t N>
bool begins_with_any(std::string_view name, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.starts_with(word); });
}

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

// --- registers --------------------------------------------------------------------------

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
bool moves_stack(std::string_view name) {
  constexpr std::array<std::string_view, 5> kMoves = {"PUSH", "POP", "CALL", "RET", "LRET"};
  return begins_with_any(name, kMoves) && !name.starts_with("POPCNT");
}

/// Whether an instruction of x86 writes a byte or a word of a register without reading it: the rest
/// stays.
bool writes_part(std::string_view name) {
  return name.starts_with("MOV8r") || name.starts_with("MOV16r") || name == "SETCCr";
}

/// Whether an instruction of aarch64 writes its base back, as ldr x0, [x1], #8 does; the base is
/// its first operand.
bool writes_base_back(std::string_view name) {
  return name.ends_with("post") || name.ends_with("pre") || name.ends_with("_POST");
}

bool is_marked(const llvm::MCOperandInfo& operand) {
  return operand.OperandType == llvm::MCOI::OPERAND_MEMORY;
}

/// x86 marks the operands of an address.
bool has_marked(const DecodedInstruction& instruction) {
  const auto described = instruction.facts->operands();
  return std::any_of(described.begin(), described.end(), is_marked);
}

/// On aarch64, which marks none, loads have no others than those of addresses, and stores begin
/// with the data.
bool is_of_address(const DecodedInstruction& instruction, unsigned operand, bool any_marked) {
  if (any_marked) return is_marked(instruction.facts->operands()[operand]);
  return instruction.facts->mayLoad();
}

/// Instructions name the x87 stack in part only, so that its operands are added here. Loads begin a
/// new value.
void add_x87_operands(const DecodedInstruction& instruction, Register stack, RegisterUse& use) {
  const std::string_view name = instruction.name;
  const bool is_load = name.starts_with("LD_F") && !name.starts_with("LD_Frr");
  const bool is_exchange = name.starts_with("XCH_F");
  if (is_load || is_exchange || name.starts_with("ILD_F")) {
    if (!is_exchange) add(use.writes, stack);
    return;
  }
  add(use.reads, stack);
  if (!instruction.facts->mayStore()) add(use.writes, stack);
}

void find_registers(const DecodedInstruction& instruction, const RegisterTable& registers,
                    RegisterUse& use) {
  const llvm::MCInstrDesc& facts = *instruction.facts;
  const auto described = facts.operands();
  const bool any_marked = has_marked(instruction);
  const bool breaks = is_zero_idiom(instruction);
  for (unsigned i = 0; i < instruction.inst.getNumOperands(); ++i) {
    const llvm::MCOperand& operand = instruction.inst.getOperand(i);
    if (!operand.isReg() || operand.getReg() == 0) continue;
    const Register number = registers[operand.getReg()].reg;
    if (i == 0 && writes_base_back(instruction.name)) {
      use.updates = number;
    } else if (i < facts.getNumDefs()) {
      add(use.writes, number);
    } else if (i < described.size() && is_of_address(instruction, i, any_marked)) {
      add(use.addresses, number);
    } else if (!breaks) {
      add(use.reads, number);
    }
  }
  if (writes_part(instruction.name)) add(use.reads, use.writes[0]);
  const auto changes = facts.implicit_defs();
  if (std::any_of(changes.begin(), changes.end(),
                  [&](llvm::MCPhysReg reg) { return registers.is_x87_status(reg); })) {
    add_x87_operands(instruction, registers.x87_stack(), use);
  }
  if (moves_stack(instruction.name)) return;
  for (const llvm::MCPhysReg reg : facts.implicit_uses()) {
    if (facts.mayLoad() && !any_marked) {
      add(use.addresses, registers[reg].reg);
    } else if (!breaks) {
      add(use.reads, registers[reg].reg);
    }
  }
  for (const llvm::MCPhysReg reg : facts.implicit_defs()) add(use.writes, registers[reg].reg);
}

// --- x86-64 -----------------------------------------------------------------------------

std::optional<AddressOperand> find_x86_address(const DecodedInstruction& instruction,
                                               const RegisterTable& registers) {
  const auto described = instruction.facts->operands();
  const auto first = std::find_if(described.begin(), described.end(), is_marked);
  // The address that lea computes is not marked; it is behind the register.
  if (first == described.end() && !instruction.name.starts_with("LEA")) return std::nullopt;
  const auto at = first == described.end() ? 1 : static_cast<unsigned>(first - described.begin());
  const std::optional<X86Address> found = read_x86_address(instruction.inst, at);
  if (!found) return std::nullopt;
  constexpr Register kStackPointer = 4;
  constexpr Register kFramePointer = 5;
  const RegisterPart& base = registers[found->base];
  AddressOperand address;
  address.base = base.reg;
  address.index = registers[found->index].reg;
  address.scale = static_cast<uint8_t>(found->scale);
  address.displacement = found->displacement;
  address.is_relative = base.is_counter;
  address.is_of_stack = found->index == 0 && found->segment == 0 &&
                        (address.base == kStackPointer || address.base == kFramePointer);
  return address;
}

/// LODSB, MOVSQ, STOSL, ...: bytes of one round; 0: no string instruction.
uint8_t find_string_bytes(std::string_view name) {
  constexpr std::array<std::string_view, 5> kKinds = {"MOVS", "STOS", "LODS", "CMPS", "SCAS"};
  if (name.size() != 5 || !begins_with_any(name, kKinds)) return 0;
  constexpr std::string_view kWidths = "BWLQ";
  const size_t width = kWidths.find(name.back());
  return width == std::string_view::npos ? uint8_t{0} : static_cast<uint8_t>(1U << width);
}

/// LLVM has prefetches as loads and stores, and says nothing of strings, calls, and what accesses
/// memory that no operand names.
void find_x86_accesses(const DecodedInstruction& instruction, Operands& operands) {
  const std::string_view name = instruction.name;
  const llvm::MCInstrDesc& facts = *instruction.facts;
  if (operands.string_bytes != 0) {
    operands.stores = name.starts_with("MOVS") || name.starts_with("STOS");
    operands.loads = !name.starts_with("STOS");
    return;
  }
  const bool has_memory =
      has_marked(instruction) && !name.starts_with("NOOP") && !name.starts_with("PREFETCH");
  // Where memory is named and LLVM does not say what becomes of it, either is possible.
  const bool is_unsaid = has_memory && !facts.mayLoad() && !facts.mayStore();
  const bool pops = name.starts_with("POP") && moves_stack(name);
  operands.uses_stack = moves_stack(name) || name.starts_with("LEAVE") ||
                        name.starts_with("ENTER") || name.starts_with("IRET");
  operands.loads = (has_memory && facts.mayLoad()) || is_unsaid || pops || facts.isReturn() ||
                   name.starts_with("LEAVE") || name == "XLAT";
  operands.stores = (has_memory && facts.mayStore()) || is_unsaid || name.starts_with("PUSH") ||
                    facts.isCall() || name.starts_with("ENTER") ||
                    (has(name, "MASKMOV") && !has_memory);
}

constexpr std::array<std::string_view, 3> kX86Fences = {"MFENCE", "LFENCE", "SFENCE"};
constexpr std::array<std::string_view, 5> kX86Serializing = {"CPUID", "LFENCE", "SERIALIZE",
                                                             "RDTSCP", "WRMSR"};
constexpr std::array<std::string_view, 14> kX86Microcoded = {
    "VGATHER", "VPGATHER", "VSCATTER", "VPSCATTER", "ENTER", "XSAVE", "XRSTOR",
    "FXSAVE",  "FXRSTOR",  "CPUID",    "RDTSC",     "RDPMC", "RDMSR", "WRMSR"};

void find_x86_kinds(const DecodedInstruction& instruction, Operands& operands) {
  const std::string_view name = instruction.name;
  operands.repeats = instruction.repeats;
  operands.string_bytes = find_string_bytes(name);
  operands.is_atomic =
      instruction.is_locked || (name.starts_with("XCHG") && instruction.facts->mayLoad());
  operands.is_fence = is_any(name, kX86Fences);
  operands.is_serializing = is_any(name, kX86Serializing);
  operands.is_microcoded = operands.string_bytes != 0 || begins_with_any(name, kX86Microcoded);
  find_x86_accesses(instruction, operands);
}

// --- aarch64 ----------------------------------------------------------------------------

std::optional<AddressOperand> find_arm_address(const DecodedInstruction& instruction,
                                               const RegisterTable& registers) {
  const llvm::MCInstrDesc& facts = *instruction.facts;
  if (!facts.mayLoad() && !facts.mayStore()) return std::nullopt;
  constexpr Register kStackPointer = 31;
  constexpr Register kFramePointer = 29;
  AddressOperand address;
  const llvm::MCInst& inst = instruction.inst;
  const auto described = facts.operands();
  const size_t count = std::min<size_t>(inst.getNumOperands(), described.size());
  for (unsigned i = facts.getNumDefs(); i < count; ++i) {
    if (!registers.is_base(described[i]) || !inst.getOperand(i).isReg()) continue;
    address.base = registers[inst.getOperand(i).getReg()].reg;
    if (i + 1 < count && inst.getOperand(i + 1).isReg()) {
      address.index = registers[inst.getOperand(i + 1).getReg()].reg;
    }
    address.is_of_stack = address.index == kNoRegister &&
                          (address.base == kStackPointer || address.base == kFramePointer);
    return address;
  }
  // ldr x0, label
  address.is_relative = instruction.name.starts_with("LDR") && instruction.name.ends_with('l');
  return address.is_relative ? std::optional(address) : std::nullopt;
}

constexpr std::array<std::string_view, 14> kArmAtomics = {
    "LDX",   "LDAX",   "STX",    "STLX",   "LDADD",  "LDSET", "LDCLR",
    "LDEOR", "LDSMAX", "LDSMIN", "LDUMAX", "LDUMIN", "SWP",   "CAS"};
constexpr std::array<std::string_view, 3> kArmSerializing = {"ISB", "DSB", "DSBnXS"};

void find_arm_kinds(const DecodedInstruction& instruction, Operands& operands) {
  const std::string_view name = instruction.name;
  const llvm::MCInstrDesc& facts = *instruction.facts;
  operands.is_atomic = begins_with_any(name, kArmAtomics);
  operands.is_serializing = is_any(name, kArmSerializing);
  operands.is_fence = operands.is_serializing || name == "DMB";
  // LLVM has barriers and prefetches as accesses, and system instructions as whatever they may do.
  const bool is_access = !operands.is_fence && !name.starts_with("PRF") &&
                         (operands.address || !facts.hasUnmodeledSideEffects());
  operands.loads = is_access && facts.mayLoad();
  // ldxr is marked as what the store behind it does.
  const bool is_exclusive_load = name.starts_with("LDX") || name.starts_with("LDAX");
  operands.stores = is_access && facts.mayStore() && !is_exclusive_load;
}

}  // namespace

Operands read_operands(const DecodedInstruction& instruction, const LlvmMachinery& machinery) {
  Operands operands;
  operands.is_known = true;
  find_registers(instruction, machinery.register_table, operands);
  // Approximations of a reciprocal root are read from a table.
  operands.divides = has(instruction.name, "DIV") ||
                     (has(instruction.name, "SQRT") && !has(instruction.name, "RSQRT"));
  if (machinery.code_target->is_x86) {
    operands.address = find_x86_address(instruction, machinery.register_table);
    find_x86_kinds(instruction, operands);
  } else {
    operands.address = find_arm_address(instruction, machinery.register_table);
    find_arm_kinds(instruction, operands);
  }
  return operands;
}

bool is_zero_idiom(const DecodedInstruction& instruction) {
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

std::optional<X86Address> read_x86_address(const llvm::MCInst& inst, unsigned at) {
  if (at + 5 > inst.getNumOperands()) return std::nullopt;
  const auto is_register = [&](unsigned i) { return inst.getOperand(at + i).isReg(); };
  const auto is_number = [&](unsigned i) { return inst.getOperand(at + i).isImm(); };
  if (!is_register(0) || !is_number(1) || !is_register(2) || !is_number(3) || !is_register(4)) {
    return std::nullopt;
  }
  return X86Address{inst.getOperand(at).getReg(),
                    static_cast<uint64_t>(inst.getOperand(at + 1).getImm()),
                    inst.getOperand(at + 2).getReg(), inst.getOperand(at + 3).getImm(),
                    inst.getOperand(at + 4).getReg()};
}

}  // namespace culprit
