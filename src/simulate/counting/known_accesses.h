#pragma once

// KnownAccesses: what an instruction accesses each time that it runs, where its code says it. Then
// nobody has to count it: executions do. What depends on values (masks, repetitions) or is rare is
// not known, and counted as it happens.

#include <cstdint>
#include <span>

#include "simulate/counting/x86_opcode.h"

namespace culprit::counting {

/// What one execution accesses. A load and a store of the same instruction are apart
/// (add %eax,(%rbx)).
struct KnownAccesses {
  bool is_known = false;
  uint8_t load_bytes = 0;  // 0: it loads nothing
  uint8_t store_bytes = 0;
  bool in_parts = false;        // engines may show them one after the other
  bool is_shown_wider = false;  // engines may show more bytes than these, behind them
  bool repeats = false;  // rep movs, rep stos: bytes are of one round; how many there are is not
                         // known

  friend bool operator==(const KnownAccesses&, const KnownAccesses&) = default;
};

KnownAccesses find_accesses(const X86Opcode& opcode);
/// Finds what an A64 instruction that is no branch accesses.
KnownAccesses find_accesses_a64(uint32_t word);

}  // namespace culprit::counting
