#include "code/decoder/registers.h"

#include <array>
#include <string_view>

namespace culprit {
namespace {

/// rax, rcx, ... in the order of their numbers in machine code.
constexpr std::array<std::string_view, 8> kLetters = {"AX", "CX", "DX", "BX",
                                                      "SP", "BP", "SI", "DI"};

RegisterPart x86_part(std::string_view name) {
  RegisterPart part;
  if (name == "RIP") part.is_counter = true;
  if (name == "EFLAGS") part.is_flags = true;
  for (uint8_t i = 0; i < kLetters.size(); ++i) {
    const std::string_view letters = kLetters[i];
    const auto take = [&](uint8_t bits) { part.reg = i, part.bits = bits; };
    if (name.size() == 3 && name.substr(1) == letters && (name[0] == 'R' || name[0] == 'E')) {
      take(name[0] == 'R' ? 64 : 32);
    } else if (name == letters) {
      take(16);
    } else if (i < 4 && name.size() == 2 && name[0] == letters[0] &&
               (name[1] == 'L' || name[1] == 'H')) {
      take(8);
      part.is_high_byte = name[1] == 'H';
    } else if (i >= 4 && name.size() == 3 && name.substr(0, 2) == letters && name[2] == 'L') {
      take(8);
    }
  }
  if (name.size() < 2 || name[0] != 'R' || name[1] < '0' || name[1] > '9') return part;
  size_t at = 1;
  unsigned number = 0;
  while (at < name.size() && name[at] >= '0' && name[at] <= '9' && number < 100) {
    number = number * 10 + static_cast<unsigned>(name[at++] - '0');
  }
  const std::string_view width = name.substr(at);
  if (number < 8 || number > 15) return part;
  if (width.empty()) part.bits = 64;
  if (width == "D") part.bits = 32;
  if (width == "W") part.bits = 16;
  if (width == "B") part.bits = 8;
  if (part.bits != 0) part.reg = static_cast<uint8_t>(number);
  return part;
}

RegisterPart arm_part(std::string_view name) {
  RegisterPart part;
  if (name == "NZCV") part.is_flags = true;
  if (name == "XZR" || name == "WZR") {
    part.is_zero = true;
    part.bits = name[0] == 'X' ? 64 : 32;
    return part;
  }
  if (name == "SP" || name == "WSP") part = {31, static_cast<uint8_t>(name[0] == 'S' ? 64 : 32)};
  if (name == "FP") part = {29, 64};
  if (name == "LR") part = {30, 64};
  if (name.size() < 2 || name.size() > 3 || (name[0] != 'X' && name[0] != 'W')) return part;
  unsigned number = 0;
  for (const char digit : name.substr(1)) {
    if (digit < '0' || digit > '9') return part;
    number = number * 10 + static_cast<unsigned>(digit - '0');
  }
  if (number <= 30)
    part = {static_cast<uint8_t>(number), static_cast<uint8_t>(name[0] == 'X' ? 64 : 32)};
  return part;
}

/// Whether instructions may have to wait for its value.
bool holds_values(std::string_view name) {
  constexpr std::string_view kNone[] = {
      // x86
      "RIP", "EIP", "IP", "SSP", "MXCSR", "FPCW", "FPSW", "DF", "_EFLAGS",
      // aarch64
      "WZR", "XZR", "FPCR", "FPSR", "FFR", "VG",
      // of both: their segments, control and debug registers
      "CS", "DS", "ES", "FS", "GS", "SS"};
  for (const std::string_view none : kNone) {
    if (name == none) return false;
  }
  return !name.starts_with("CR") && !name.starts_with("DR");
}

/// ST0 to ST7. Instructions push and pop them, so that names say nothing of which is which.
bool is_of_x87_stack(std::string_view name) {
  return name.size() == 3 && name.starts_with("ST") && name[2] >= '0' && name[2] <= '7';
}

bool is_list(std::string_view name) {
  return name.find('_') != std::string_view::npos;
}

}  // namespace

RegisterTable::RegisterTable(bool is_x86, const llvm::MCRegisterInfo& registers)
    : parts_(registers.getNumRegs()) {
  // What shares a smallest unit is parts of one register.
  std::vector<Register> of_unit(registers.getNumRegUnits(), kNoRegister);
  for (unsigned id = 1; id < parts_.size(); ++id) {
    const std::string_view name(registers.getName(id));
    if (name == "FPSW") x87_status_ = id;
    parts_[id] = is_x86 ? x86_part(name) : arm_part(name);
    if (parts_[id].reg == kNoRegister) continue;
    for (const unsigned unit : registers.regunits(id)) of_unit[unit] = parts_[id].reg;
  }
  Register next = is_x86 ? 16 : kGeneralRegisters;
  for (unsigned id = 1; id < parts_.size(); ++id) {
    const std::string_view name(registers.getName(id));
    Register& reg = parts_[id].reg;
    if (reg != kNoRegister || is_list(name) || !holds_values(name)) continue;
    if (is_of_x87_stack(name)) {
      if (x87_stack_ == kNoRegister) x87_stack_ = next++;
      reg = x87_stack_;
      continue;
    }
    for (const unsigned unit : registers.regunits(id)) {
      if (of_unit[unit] != kNoRegister) reg = of_unit[unit];
    }
    if (reg == kNoRegister && next < kMostRegisters) reg = next++;
    for (const unsigned unit : registers.regunits(id)) of_unit[unit] = reg;
  }
  // Lists (aarch64: W0_W1, Q0_Q1_Q2) stand for their first register.
  for (unsigned id = 1; id < parts_.size(); ++id) {
    Register& reg = parts_[id].reg;
    if (is_list(registers.getName(id)) && reg == kNoRegister) {
      reg = of_unit[*registers.regunits(id).begin()];
    }
  }
  for (const llvm::MCRegisterClass& one : registers.regclasses()) {
    if (std::string_view(registers.getRegClassName(&one)) == "GPR64sp") {
      base_class_ = static_cast<int>(one.getID());
    }
  }
}

}  // namespace culprit
