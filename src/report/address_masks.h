#pragma once

// What registers with address masks would cover of a range: each holds an address and a mask, and
// so covers a block whose size is a power of two, at a multiple of that. A few of them cover more
// than was asked for:
//
//     asked for    [26f40, 44ac8f40)                     1,152,000,000 bytes
//     four cover   [0, 48000000)    offsets 159,552 and 55,800,000
//
// Source: papers/data-structure-profiling, section 3, whose offsets these are

#include <cstdint>

namespace culprit {

struct MaskCover {
  uint64_t start_offset = 0;  // bytes that are covered before the range
  uint64_t end_offset = 0;    // and behind it
};

/// The block in the middle is the largest that fits in; the registers that are left are shared out
/// to what is before and behind it, the larger part having more; the last one on a side covers all
/// that is left there.
/// Units: address, size_bytes [bytes]; masks: registers, at least one
MaskCover cover_by_masks(uint64_t address, uint64_t size_bytes, unsigned masks);

}  // namespace culprit
