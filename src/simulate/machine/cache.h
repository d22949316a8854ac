#pragma once

// Cache: one set-associative level: which lines it holds, in what state, and which line
// leaves when another comes. It counts nothing and knows no other level.
//
// A line is its address divided by the line size; a slot is a place for one line:
//
//     set 0: | slot 0 | slot 1 | ... | slot ways-1 |
//     set 1: | slot ways | ...
//
// Any number of sets works: a line's set is line mod sets (a mask for powers of two).

#include <bit>
#include <cstdint>

#include "simulate/machine/machine.h"
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
    const uint64_t set = set_of(line);
    const uint64_t first = set * ways_;
    const uint64_t recent = first + recent_[set];
    const uint64_t tag = ~line;
    if (tags_[recent] == tag) return static_cast<Slot>(recent);
    const uint64_t* tags = tags_.data() + first;
    for (uint32_t way = 0; way < ways_; ++way) {
      if (tags[way] == tag) return static_cast<Slot>(first + way);
    }
    return kNoSlot;
  }

  /// Notes a use of the line in `slot` for replacement.
  void use(uint64_t line, Slot slot) {
    const uint64_t set = set_of(line);
    const uint32_t way = static_cast<uint32_t>(slot - set * ways_);
    if (recent_[set] == way) return;
    recent_[set] = static_cast<uint8_t>(way);
    order(set, way);
  }

  /// The slot that a new `line` will take: an empty one, or the one to be replaced.
  [[nodiscard]] Slot find_victim(uint64_t line);

  /// Puts `line` into `slot` (from find_victim()) and notes its use.
  Evicted fill(uint64_t line, Slot slot, uint8_t flags);

  /// Empties `slot`.
  Evicted remove(Slot slot);

  [[nodiscard]] uint64_t line_at(Slot slot) const { return ~tags_[slot]; }
  [[nodiscard]] bool empty_at(Slot slot) const { return tags_[slot] == 0; }
  uint8_t& flags_at(Slot slot) { return flags_[slot]; }
  [[nodiscard]] uint8_t flags_at(Slot slot) const { return flags_[slot]; }

 private:
  void order(uint64_t set, uint32_t way) {
    if (replacement_ == Replacement::lru) {
      if (++clocks_[set] == 0) [[unlikely]]
        renumber(set);
      stamps_[set * ways_ + way] = clocks_[set];
    } else if (replacement_ == Replacement::plru) {
      order_tree(set, way);
    }
  }
  void order_tree(uint64_t set, uint32_t way);
  void renumber(uint64_t set);
  [[nodiscard]] uint32_t oldest_way(uint64_t set) const;
  [[nodiscard]] uint32_t tree_victim(uint64_t set) const;

  uint64_t sets_ = 0;
  uint32_t ways_ = 1;
  bool power_of_two_ = true;
  Replacement replacement_ = Replacement::lru;
  ZeroedArray<uint64_t> tags_;    // ~line; 0: empty
  ZeroedArray<uint8_t> flags_;    // LineFlag
  ZeroedArray<uint8_t> recent_;   // per set: the way used last, found first
  ZeroedArray<uint32_t> clocks_;  // lru, per set: uses
  ZeroedArray<uint32_t> stamps_;  // lru, per slot: the set's clock at the last use; 0: empty
  ZeroedArray<uint64_t> trees_;   // plru, per set: bit of node n: its older half is the upper
  uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace culprit::simulate
