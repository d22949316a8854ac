#pragma once

// SpreadHash: a hash of numbers for tables whose size is a power of two, as robin_map's are. Their
// place is in the hash's low bits, which std::hash leaves as they are: addresses that are multiples
// of 16, or a number with another one below it, would fall on few places.

#include <cstddef>
#include <cstdint>

namespace culprit {

struct SpreadHash {
  size_t operator()(uint64_t key) const noexcept {
    // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): all bits of the key reach
    // the upper half of the product.
    constexpr uint64_t kGoldenRatio = 0x9e37'79b9'7f4a'7c15;
    return static_cast<size_t>((key * kGoldenRatio) >> 32);
  }
};

}  // namespace culprit
