#pragma once

// The beginning of a function, moved elsewhere to make room for a jump to a wrapper:
//
//     f:    push %rbx            f:    jmp wrapper      moved:  push %rbx
//           mov  x(%rip),%eax          …                        mov  x(%rip),%eax
//           test %edi,%edi             test %edi,%edi           jmp  f+7
//
// The wrapper calls `moved`. Nothing else may jump to the bytes that are no longer there, nor to
// the beginning itself: that would be no call.
//
// A call among them returns to where it would have returned to, as unwinders expect: its return
// address is pushed, and its target jumped to.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/result.h"
#include "code/decoder/decoder.h"

namespace culprit {

/// An x86-64 jump to where a wrapper can be: one byte and a 32-bit displacement.
inline constexpr size_t kJumpBytes = 5;

struct MovedCode {
  /// A part of the moved code that depends on where function and code are: the distance of the
  /// target from the end of the instruction (32 bits), or the target itself (64 bits).
  struct Reference {
    size_t at = 0;      // in `bytes`
    size_t behind = 0;  // bytes of the instruction that follow it
    bool is_address = false;
    int64_t target = 0;  // from the beginning of the function on
    friend bool operator==(const Reference&, const Reference&) = default;
  };
  size_t replaced = 0;  // bytes of the function: whole instructions, kJumpBytes or more
  std::string bytes;    // which do the same elsewhere, and then go on behind `replaced`
  std::vector<Reference> references;
};

/// `function`: all of its code, from `begin` on; `decoder`: of x86-64.
/// Errors: why it cannot be moved, to be read after "FUNCTION "
Result<MovedCode> plan_move(const Decoder& decoder, std::string_view function, LinkAddress begin);

}  // namespace culprit
