#pragma once

// Where thread-local variables are. Each thread has a block of its own, so none has an address in
// the file: their places, and their link addresses, are those of the block that all blocks begin
// as, behind all that a file can hold.

#include <cstdint>

namespace culprit {

inline constexpr uint64_t kThreadLocalPlace = uint64_t{1} << 62;  // of the block's first byte

}  // namespace culprit
