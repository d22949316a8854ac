#pragma once

// What instructions do to general registers, memory and flags, as far as following the address of
// an indirect jump needs it:
//
//     lea    0xdbe(%rip),%rdx        sum     rdx = 0x202c
//     mov    %edi,%edi               sum     rdi = low 32 bits of rdi
//     movslq (%rdx,%rdi,4),%rax      load    rax = 4 signed bytes at rdx + rdi * 4
//     add    %rdx,%rax               sum     rax = rax + rdx
//     jmp    *%rax                   jump    to rax
//
// Everything else is `other`: it says which registers no longer hold what they did.

#include <cstdint>

#include "code/operands.h"

namespace culprit {

/// The low `bits` of a register, extended to 64 and shifted left.
struct EffectTerm {
  Register reg = kNoRegister;  // a general one; none: 0
  uint8_t bits = 64;
  bool is_signed = false;
  uint8_t shift = 0;
};

struct EffectSum {
  EffectTerm first;
  EffectTerm second;
  uint64_t constant = 0;
  bool is_known = true;  // false: other parts (segments) belong to it, too
};

enum class EffectKind : uint8_t {
  other,
  sum,    // written = sum
  mask,   // written = sum & immediate
  load,   // written = `bytes` at sum
  store,  // `bytes` of `source` at sum
  jump,   // to sum, or to what lies there where `bytes` is not 0
};

/// Unsigned comparisons, as the branch that asks for them.
enum class EffectCondition : uint8_t { other, above, above_or_equal, below, below_or_equal };

struct Effect {
  EffectKind kind = EffectKind::other;
  EffectSum sum;
  EffectTerm source;               // of a store
  Register written = kNoRegister;  // of which `written_bits` are, and those above become 0
  uint8_t written_bits = 64;
  uint8_t bytes = 0;
  bool is_signed = false;  // of a load
  uint64_t immediate = 0;
  uint32_t lost = 0;       // registers that hold something else afterwards, a bit each
  bool may_store = false;  // somewhere
  bool sets_flags = false;
  bool compares = false;  // flags are those of comparing `compared` (or the load) and `immediate`
  EffectTerm compared;
  EffectCondition condition = EffectCondition::other;  // of a conditional branch
};

}  // namespace culprit
