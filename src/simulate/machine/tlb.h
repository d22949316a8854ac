#pragma once

// Tlb: one set-associative translation buffer with true LRU. A key is a page: its number,
// and whether it is a huge one.

#include <array>
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
  bool use(uint64_t page) { return use_likely(page) || (sets_ != 0 && search(page)); }

  /// A quick look: false may mean that use() is to be asked.
  bool use_likely(uint64_t page) {
    const uint32_t likely = likely_[likely_place(page)];
    if (pages_[likely] != page) return false;
    stamps_[likely] = ++clock_;
    return true;
  }

 private:
  [[nodiscard]] size_t likely_place(uint64_t page) const { return (page >> 2) % likely_.size(); }
  bool search(uint64_t page);

  uint64_t sets_ = 0;
  uint32_t ways_ = 0;
  uint64_t clock_ = 0;
  ZeroedArray<uint64_t> pages_;
  ZeroedArray<uint64_t> stamps_;
  std::array<uint32_t, 256> likely_{};  // entry, by the low bits of a page's number
};

}  // namespace culprit::simulate
