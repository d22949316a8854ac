#pragma once

// What one decoded instruction is: every kind that it belongs to, by its text (AT&T's syntax for
// x86) and flow.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "code/instruction.h"

namespace culprit {

enum class MixKind : uint8_t {
  flops,         // operations: lanes x 1, fused multiply-adds x 2
  packed_flops,  // those of them in packed instructions
  fp_scalar,     // instructions, as FP_ARITH_INST_RETIRED counts them but each once
  fp_packed_128,
  fp_packed_256,
  fp_packed_512,
  fp_multiplies,  // multiplications and fused multiply-adds
  fp_divisions,   // divisions and square roots
  fused_multiply_adds,
  simd_integer,  // on vectors of integers, and bitwise on vectors
  shuffles,      // of lanes: unpack, permute, insert, extract, broadcast, blend
  conversions,
  integer_multiplies,
  integer_divisions,
  moves,           // plain copies: between registers, from and to memory
  stack_accesses,  // memory relative to the stack or frame pointer; no push, pop, call
  nops,
  conditional_branches,
  loop_branches,  // conditional ones to an earlier address: they close loops
  jumps,          // unconditional, direct and indirect
  returns,
};
inline constexpr size_t kMixKinds = 21;

/// How many instructions there are of each MixKind.
using MixCounts = std::array<uint8_t, kMixKinds>;

/// Names of the kinds as events.
extern const std::array<std::string_view, kMixKinds> kMixEvents;

/// What one execution of the instruction counts. Instructions of other architectures than x86_64
/// and aarch64 have their flow only.
MixCounts count_kinds(const Instruction& instruction, std::string_view architecture);

}  // namespace culprit
