#pragma once

// Tlb: one set-associative translation buffer with true LRU. A key is a page: its number,
// and whether it is a huge one.

#include <cstdint>

#include "simulate/machine/machine.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

inline constexpr int kPageShift = 12;
inline constexpr int kHugePageShift = 21;

/// Of the page that holds `address`. Never 0.
inline uint64_t page_key(uint64_t address, bool huge) {
  return huge ? (address >> kHugePageShift) * 4 + 3 : (address >> kPageShift) * 4 + 1;
}

class Tlb {
 public:
  explicit Tlb(const TlbGeometry& geometry);

  /// Whether the page was there; then it is.
  bool use(uint64_t page);

 private:
  uint64_t sets_ = 0;
  uint32_t ways_ = 0;
  uint64_t clock_ = 0;
  ZeroedArray<uint64_t> pages_;
  ZeroedArray<uint64_t> stamps_;
};

}  // namespace culprit::simulate
