#pragma once

// RowIndex: finds rows of a table by a hash of what they are. The rows stay in their own
// vector, the index holds row numbers: no allocation for each of a hundred thousand.

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"

namespace culprit {

class RowIndex {
 public:
  [[nodiscard]] size_t size() const { return size_; }

  /// Makes room for this many rows at once.
  void reserve(size_t rows) {
    if (2 * rows > slots_.size()) resize(std::bit_ceil(2 * rows + 1));
  }

  /// The row for which `is_same(row)` holds, among those added with this hash.
  template <class IsSame>
  [[nodiscard]] std::optional<uint32_t> find(size_t hash, IsSame is_same) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[find_slot(to_tag(hash), is_same)];
    return slot.row == kEmpty ? std::nullopt : std::optional(slot.row);
  }

  /// The same; if there is none, `new_row`, which is added.
  template <class IsSame>
  uint32_t find_or_add(size_t hash, size_t new_row, IsSame is_same) {
    CHECK(new_row < kEmpty);
    if (2 * (size_ + 1) > slots_.size()) resize(slots_.empty() ? 64 : 4 * slots_.size());
    const uint32_t tag = to_tag(hash);
    Slot& slot = slots_[find_slot(tag, is_same)];
    if (slot.row != kEmpty) return slot.row;
    slot = {tag, static_cast<uint32_t>(new_row)};
    ++size_;
    return slot.row;
  }

 private:
  static constexpr uint32_t kEmpty = 0xffffffff;
  struct Slot {
    uint32_t tag = 0;  // of the hash
    uint32_t row = kEmpty;
  };

  static uint32_t to_tag(size_t hash) { return static_cast<uint32_t>(hash >> 32 ^ hash); }

  /// The slot of the row, or the empty one where it belongs.
  template <class IsSame>
  size_t find_slot(uint32_t tag, IsSame& is_same) const {
    size_t at = tag & (slots_.size() - 1);
    while (slots_[at].row != kEmpty && (slots_[at].tag != tag || !is_same(slots_[at].row))) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  void resize(size_t slots) {
    std::vector<Slot> larger(slots);
    for (const Slot& slot : slots_) {
      if (slot.row == kEmpty) continue;
      size_t at = slot.tag & (larger.size() - 1);
      while (larger[at].row != kEmpty) at = (at + 1) & (larger.size() - 1);
      larger[at] = slot;
    }
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t size_ = 0;
};

}  // namespace culprit
