#pragma once

// Operands: what an instruction works on, and of which kind it is.
//
//     lock add %rax,8(%rsi,%rcx,8)   reads rax; address rsi + rcx * 8 + 8, where it loads and
//                                    stores; is atomic
//
// They are facts of the instruction, which hold for every CPU. What it computes is effects.h's.

#include <array>
#include <cstdint>
#include <optional>

namespace culprit {

/// A number for each register that can hold a value of its own, whatever part of it is named (al
/// and rax are one). General registers have those of machine code: rax is 0, rcx 1, r15 15; x0 to
/// x30, and sp is 31.
using Register = uint8_t;
inline constexpr Register kNoRegister = 127;
inline constexpr Register kMostRegisters = 126;    // real ones are below
inline constexpr Register kGeneralRegisters = 32;  // theirs are below

/// kNoRegister where there are fewer; what is beyond these is left out. Pushes, pops, calls and
/// returns have no stack pointer here: cores compute it ahead.
struct RegisterUse {
  std::array<Register, 4> reads{kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  std::array<Register, 3> addresses{kNoRegister, kNoRegister, kNoRegister};
  std::array<Register, 3> writes{kNoRegister, kNoRegister, kNoRegister};
  Register updates = kNoRegister;  // an address register that moves on, at once
};

/// base + index * scale + displacement. Of aarch64's there are base and index only.
struct AddressOperand {
  Register base = kNoRegister;
  Register index = kNoRegister;
  uint8_t scale = 1;
  int64_t displacement = 0;
  bool is_relative = false;  // to the instruction
  bool is_of_stack = false;  // the stack or frame pointer and a displacement
};

struct Operands : RegisterUse {
  bool is_known = false;                  // false: they were not asked for, or it is undecodable
  std::optional<AddressOperand> address;  // that it writes out: of memory, or what lea computes
  bool loads = false;                     // data, from there or from where it always does (pop)
  bool stores = false;
  bool uses_stack = false;      // it pushes or pops, calls and returns of x86 do
  bool divides = false;         // or takes a square root, in a unit that takes one at a time
  bool is_atomic = false;       // locked, xchg with memory; exclusive accesses of aarch64
  bool is_fence = false;        // orders accesses to memory
  bool is_serializing = false;  // waits until all before it is done
  bool is_microcoded = false;   // string instructions, gathers, cpuid: on most CPUs
  bool repeats = false;         // it has a rep prefix
  uint8_t string_bytes = 0;     // of one round of a string instruction; 0: it is none
};

}  // namespace culprit
