#pragma once

// Architecture: the registers of an architecture: in which order perf samples them, which
// numbers DWARF gives them, and what an address in a register may carry beside it.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "records/record.h"

namespace culprit {

/// Values by DWARF's numbers. What is not known is not used.
class Registers {
 public:
  static constexpr unsigned kCount = 33;

  [[nodiscard]] std::optional<uint64_t> get(unsigned number) const {
    if (number >= kCount || (known_ >> number & 1) == 0) return std::nullopt;
    return values_[number];
  }
  void set(unsigned number, uint64_t value) {
    if (number >= kCount) return;
    values_[number] = value;
    known_ |= uint64_t{1} << number;
  }
  /// Forgets those whose bit is set.
  void forget(uint64_t mask) { known_ &= ~mask; }

 private:
  std::array<uint64_t, kCount> values_{};
  uint64_t known_ = 0;
};

struct Architecture {
  static constexpr uint8_t kNone = 0xff;

  std::string_view name;              // as `uname -m`
  uint16_t elf_machine;               // EM_*
  uint8_t stack_pointer;              // DWARF number
  uint8_t pc_register;                // DWARF number, for expressions; kNone: it has none
  uint8_t perf_pc;                    // bit in perf's mask
  uint8_t perf_stack_pointer;         // bit in perf's mask
  uint64_t code_address_mask;         // what of a return address is the address
  std::array<uint8_t, 64> from_perf;  // DWARF number of each bit in perf's mask, or kNone

  /// nullptr: an architecture that we do not know.
  static const Architecture* find(std::string_view name);
};

/// Where a task was, from what perf sampled.
struct TaskState {
  uint64_t pc = 0;
  uint64_t stack_pointer = 0;
  Registers registers;
};

/// nullopt: the dump lacks program counter or stack pointer, or contradicts itself.
std::optional<TaskState> make_state(const Architecture& architecture, const RegisterDump& dump);

}  // namespace culprit
