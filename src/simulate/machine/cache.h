#pragma once

// Cache: one set-associative level: which lines it holds, in what state, and which line
// leaves when another comes. It counts nothing and knows no other level.
//
// A line is its address divided by the line size; a slot is a place for one line. Sets have theirs
// in the order in which they are first used (sparse_sets.h):
//
//     the first set used: | slot 0 | slot 1 | ... | slot ways-1 |
//     the second one:     | slot ways | ...
//
// Any number of sets works: a line's set is line mod sets (a mask for powers of two).

#include <bit>
#include <cstdint>

#include "simulate/machine/machine.h"
#include "simulate/machine/sparse_sets.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

using Slot = uint32_t;
inline constexpr Slot kNoSlot = ~Slot{0};
inline constexpr uint64_t kNoLine = ~uint64_t{0};

/// State of a line, as bits.
enum LineFlag : uint8_t {
  kDirty = 1,       // written, and not written back
  kWritable = 2,    // no other core has it
  kPrefetched = 4,  // brought in by a prefetcher and not used yet
  kNoted = 8,       // written, and the directory knows
};

struct Evicted {
  uint64_t line = kNoLine;  // kNoLine: the slot was empty
  uint8_t flags = 0;
};

class Cache {
 public:
  Cache() = default;  // of no lines: find() finds nothing
  Cache(const CacheGeometry& geometry, uint32_t line_bytes);

  [[nodiscard]] bool present() const { return sets_ != 0; }
  [[nodiscard]] uint64_t lines() const { return sets_ * ways_; }
  [[nodiscard]] uint64_t sets() const { return sets_; }

  [[nodiscard]] uint64_t set_of(uint64_t line) const {
    if (power_of_two_) [[likely]]
      return line & (sets_ - 1);
    return line % sets_;
  }

  /// Where `line` is, or kNoSlot. Not a use: replacement does not notice.
  [[nodiscard]] Slot find(uint64_t line) const {
    if (sets_ == 0) return kNoSlot;
    const Slot first = entries_.find(set_of(line));
    if (first == kNoSlot) return kNoSlot;
    const Entry* const set = &entries_[first];
    for (uint32_t way = 0; way < ways_; ++way) {
      if (set[way].tag == ~line) return first + way;
    }
    return kNoSlot;
  }

  /// Whether `slot`, one of this cache's, holds `line`.
  [[nodiscard]] bool holds(Slot slot, uint64_t line) const { return entries_[slot].tag == ~line; }

  /// Notes a use of the line in `slot` for replacement. `now`: the caller's clock, above 0, which
  /// grows from use to use of a set.
  void use(Slot slot, uint64_t now) {
    date(slot, now);
    order(slot);
  }
  /// The two halves of use(), in any order.
  void date(Slot slot, uint64_t now) {
    Entry& entry = entries_[slot];
    entry.used_and_flags = now << kFlagBits | (entry.used_and_flags & kFlagMask);
  }
  void order(Slot slot) {
    if (replacement_ == Replacement::plru) [[unlikely]]
      order_tree(slot);
  }

  /// The slot that a new `line` will take: an empty one, or the one to be replaced.
  [[nodiscard]] Slot find_victim(uint64_t line);

  /// Puts `line` into `slot` (from find_victim()) and notes its use.
  Evicted fill(uint64_t line, Slot slot, uint8_t flags, uint64_t now);

  /// Empties `slot`.
  Evicted remove(Slot slot);

  /// Calls visit(slot, line) for all lines, set by set. It may remove what it is shown.
  template <class Visit>
  void for_each_line(Visit visit) const {
    for (uint64_t set = 0; set < sets_; ++set) {
      const Slot first = entries_.find(set);
      if (first == kNoSlot) continue;
      for (Slot slot = first; slot < first + ways_; ++slot) {
        if (!empty_at(slot)) visit(slot, line_at(slot));
      }
    }
  }

  [[nodiscard]] uint64_t line_at(Slot slot) const { return ~entries_[slot].tag; }
  [[nodiscard]] bool empty_at(Slot slot) const { return entries_[slot].tag == 0; }
  [[nodiscard]] uint8_t flags_at(Slot slot) const {
    return static_cast<uint8_t>(entries_[slot].used_and_flags & kFlagMask);
  }
  void set_flags(Slot slot, uint8_t flags) { entries_[slot].used_and_flags |= flags; }
  void clear_flags(Slot slot, uint8_t flags) {
    entries_[slot].used_and_flags &= ~static_cast<uint64_t>(flags);
  }

 private:
  static constexpr int kFlagBits = 8;
  static constexpr uint64_t kFlagMask = (1 << kFlagBits) - 1;
  struct Entry {
    uint64_t tag;             // ~line; 0: empty
    uint64_t used_and_flags;  // when it was used last (lru), and below that LineFlag; 0: empty
  };

  void order_tree(Slot slot);
  [[nodiscard]] Slot find_oldest(Slot first) const;
  [[nodiscard]] uint32_t tree_victim(Slot first) const;

  uint64_t sets_ = 0;
  uint32_t ways_ = 1;
  bool power_of_two_ = true;
  Replacement replacement_ = Replacement::lru;
  static_assert(SparseSets<Entry>::kNowhere == kNoSlot);
  SparseSets<Entry> entries_;    // by slot
  ZeroedArray<uint64_t> trees_;  // plru, by slot / ways: bit of node n: its older half is the upper
  uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace culprit::simulate
