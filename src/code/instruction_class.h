#pragma once

// InstructionClass: instructions that a core's units treat alike, so that a machine file can say
// what they cost where LLVM's model of a related CPU, or of the same one, has it wrong:
//
//     [instructions]
//     integer_divide_64 = { latency_cycles = 10, cycles = 7 }
//
// Each class has loops by which it can be measured (instruction_loops()). Which class an
// instruction is of: code/costs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace culprit {

enum class InstructionClass : uint8_t {
  other,
  integer_multiply,
  integer_multiply_wide,  // of two registers' size
  integer_divide_32,      // and narrower ones
  integer_divide_64,
  lea_three_parts,  // base, index and displacement
  lea_scaled,       // an index times 2, 4 or 8, and no displacement
  shift_by_register,
  bit_scan,
  popcnt,
  crc32,
  locked,  // lock add and its like, xchg with memory
  memory_fence,
  // Latencies of loads are what they take beside the time of L1D.
  load_complex_address,  // an index times 2, 4 or 8, or base, index and displacement
  load_sign_extended,
  load_vector,
  gather,
  store,  // of general registers and constants
  move_to_vector,
  move_from_vector,
  fp_add,
  fp_multiply,
  fp_fma,
  fp_divide_32,
  fp_divide_64,
  fp_sqrt_32,
  fp_sqrt_64,
  fp_compare,
  fp_round,
  convert_fp,
  convert_fp_to_integer,
  convert_integer_to_fp,
  vector_add,  // and logic, comparisons, minima
  vector_shift,
  vector_multiply,
  shuffle,
  shuffle_bytes,
  shuffle_lanes,
  aes,
  carryless_multiply,
  x87_add,
  x87_multiply,
  x87_divide,
};
inline constexpr size_t kInstructionClasses = static_cast<size_t>(InstructionClass::x87_divide) + 1;

/// What a machine says of a class; 0: nothing, what LLVM says holds.
struct InstructionTiming {
  double latency_cycles = 0;  // from its operands to its result
  double cycles = 0;          // of one among many that do not wait for each other
};

/// What each class of instructions takes.
class InstructionTimings {
 public:
  InstructionTiming& operator[](InstructionClass kind) {
    return timings_[static_cast<size_t>(kind)];
  }
  const InstructionTiming& operator[](InstructionClass kind) const {
    return timings_[static_cast<size_t>(kind)];
  }

 private:
  std::array<InstructionTiming, kInstructionClasses> timings_{};
};

/// How a class is measured, in GNU assembly for x86-64: bodies of loops. General registers are 1,
/// vector registers 1.0, (%rdi) are 4096 bytes of 1.0; a loop counts in %rsi.
struct InstructionLoop {
  InstructionClass kind;
  const char* name;  // in machine files
  const char*
      chain;  // with one of the class, which needs the one before; nullptr: none can be made
  const char* independent;  // of which many can be under way; nullptr: as the chain
  uint32_t count = 1;       // of the class in `independent`
  // What else the chain takes:
  double beside_cycles = 0;
  bool hits_l1d = false;
  InstructionClass also = InstructionClass::other;
};

/// The loops in the order of their classes, without `other`.
std::span<const InstructionLoop> instruction_loops();

}  // namespace culprit
