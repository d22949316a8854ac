#include "simulate/costs/registers.h"

#include <string_view>

namespace culprit::simulate {
namespace {

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

}  // namespace

RegisterNumbers::RegisterNumbers(const llvm::MCRegisterInfo& registers)
    : numbers_(registers.getNumRegs(), kNoRegister) {
  for (unsigned id = 1; id < registers.getNumRegs(); ++id) {
    if (std::string_view(registers.getName(id)) == "FPSW") x87_status_ = id;
  }
  // What shares a smallest unit is parts of one register.
  std::vector<Register> of_unit(registers.getNumRegUnits(), kNoRegister);
  Register next = 0;
  for (unsigned id = 1; id < registers.getNumRegs(); ++id) {
    const std::string_view name(registers.getName(id));
    const bool is_list = name.find('_') != std::string_view::npos;
    if (is_list || !holds_values(name)) continue;
    if (is_of_x87_stack(name)) {
      if (x87_stack_ == kNoRegister) x87_stack_ = next++;
      numbers_[id] = x87_stack_;
      continue;
    }
    for (const unsigned unit : registers.regunits(id)) {
      if (of_unit[unit] != kNoRegister) numbers_[id] = of_unit[unit];
    }
    if (numbers_[id] == kNoRegister && next < kMostRegisters) numbers_[id] = next++;
    for (const unsigned unit : registers.regunits(id)) of_unit[unit] = numbers_[id];
  }
  // Lists (aarch64: W0_W1, Q0_Q1_Q2) stand for their first register.
  for (unsigned id = 1; id < registers.getNumRegs(); ++id) {
    const bool is_list =
        std::string_view(registers.getName(id)).find('_') != std::string_view::npos;
    if (is_list && numbers_[id] == kNoRegister)
      numbers_[id] = of_unit[*registers.regunits(id).begin()];
  }
}

}  // namespace culprit::simulate
