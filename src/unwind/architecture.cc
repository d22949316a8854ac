#include "unwind/architecture.h"

#include <bit>
#include <elf.h>

namespace culprit {

namespace {

constexpr std::array<uint8_t, 64> no_registers() {
  std::array<uint8_t, 64> none{};
  for (uint8_t& number : none) number = Architecture::kNone;
  return none;
}

// perf's order: enum perf_event_x86_regs in the kernel's asm/perf_regs.h:
//   AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8 ... R15
// DWARF's: the psABI's figure 3.36: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15.
constexpr std::array<uint8_t, 64> x86_64_registers() {
  std::array<uint8_t, 64> from_perf = no_registers();
  constexpr uint8_t kFirst[] = {0, 3, 2, 1, 4, 5, 6, 7};
  for (size_t i = 0; i < 8; ++i) from_perf[i] = kFirst[i];
  for (uint8_t i = 0; i < 8; ++i) from_perf[size_t{16} + i] = static_cast<uint8_t>(8 + i);
  return from_perf;
}

// perf's order: enum perf_event_arm_regs: X0 ... X29 LR SP PC; DWARF counts alike.
constexpr std::array<uint8_t, 64> aarch64_registers() {
  std::array<uint8_t, 64> from_perf = no_registers();
  for (uint8_t i = 0; i < 32; ++i) from_perf[i] = i;
  return from_perf;
}

// aarch64's return addresses may be signed: the code is above the 48 bits of an address.
constexpr Architecture kArchitectures[] = {
    {"x86_64", EM_X86_64, 7, 16, 8, 7, UINT64_MAX, x86_64_registers()},
    {"aarch64", EM_AARCH64, 31, Architecture::kNone, 32, 31, 0x0000'ffff'ffff'ffff,
     aarch64_registers()},
};

}  // namespace

const Architecture* Architecture::find(std::string_view name) {
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
  }
  return nullptr;
}

std::optional<TaskState> make_state(const Architecture& architecture, const RegisterDump& dump) {
  const uint64_t needed =
      uint64_t{1} << architecture.perf_pc | uint64_t{1} << architecture.perf_stack_pointer;
  if ((dump.mask & needed) != needed) return std::nullopt;
  if (static_cast<size_t>(std::popcount(dump.mask)) != dump.values.size()) return std::nullopt;
  TaskState state;
  size_t next = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((dump.mask >> bit & 1) == 0) continue;
    const uint64_t value = dump.values[next++];
    if (bit == architecture.perf_pc) state.pc = value;
    if (bit == architecture.perf_stack_pointer) state.stack_pointer = value;
    state.registers.set(architecture.from_perf[bit], value);
  }
  return state;
}

}  // namespace culprit
