#include "simulate/machine/cache.h"

#include <algorithm>
#include <vector>

namespace culprit::simulate {

Cache::Cache(const CacheGeometry& geometry, uint32_t line_bytes) {
  if (!geometry.present()) return;
  sets_ = compute_sets(geometry, line_bytes);
  ways_ = geometry.ways;
  power_of_two_ = std::has_single_bit(sets_);
  replacement_ = geometry.replacement;
  tags_ = ZeroedArray<uint64_t>(lines());
  flags_ = ZeroedArray<uint8_t>(lines());
  recent_ = ZeroedArray<uint8_t>(sets_);
  if (replacement_ == Replacement::lru) {
    clocks_ = ZeroedArray<uint32_t>(sets_);
    stamps_ = ZeroedArray<uint32_t>(lines());
  } else if (replacement_ == Replacement::plru) {
    trees_ = ZeroedArray<uint64_t>(sets_);
  }
}

Slot Cache::find_victim(uint64_t line) {
  const uint64_t set = set_of(line);
  const uint64_t first = set * ways_;
  if (replacement_ == Replacement::lru) {  // an empty slot is older than any other
    return static_cast<Slot>(first + oldest_way(set));
  }
  uint32_t way = 0;
  for (; way < ways_; ++way) {
    if (tags_[first + way] == 0) return static_cast<Slot>(first + way);
  }
  switch (replacement_) {
    case Replacement::lru:
      break;
    case Replacement::plru:
      way = tree_victim(set);
      break;
    case Replacement::random:  // Marsaglia's xorshift, 2003
      random_ ^= random_ << 13;
      random_ ^= random_ >> 7;
      random_ ^= random_ << 17;
      way = static_cast<uint32_t>((random_ >> 32) % ways_);
      break;
  }
  return static_cast<Slot>(first + way);
}

Evicted Cache::fill(uint64_t line, Slot slot, uint8_t flags) {
  const Evicted evicted = remove(slot);
  tags_[slot] = ~line;
  flags_[slot] = flags;
  const uint64_t set = set_of(line);
  const uint32_t way = static_cast<uint32_t>(slot - set * ways_);
  recent_[set] = static_cast<uint8_t>(way);
  order(set, way);
  return evicted;
}

Evicted Cache::remove(Slot slot) {
  if (empty_at(slot)) return {};
  const Evicted evicted{line_at(slot), flags_[slot]};
  tags_[slot] = 0;
  flags_[slot] = 0;
  if (replacement_ == Replacement::lru) stamps_[slot] = 0;
  return evicted;
}

uint32_t Cache::oldest_way(uint64_t set) const {
  const uint32_t* stamps = stamps_.data() + set * ways_;
  uint32_t oldest = 0;
  for (uint32_t way = 1; way < ways_; ++way) {
    if (stamps[way] < stamps[oldest]) oldest = way;
  }
  return oldest;
}

/// The clock of a set ran over: stamps become ranks, in the same order.
void Cache::renumber(uint64_t set) {
  uint32_t* stamps = stamps_.data() + set * ways_;
  std::vector<uint32_t> sorted(stamps, stamps + ways_);
  std::sort(sorted.begin(), sorted.end());
  for (uint32_t way = 0; way < ways_; ++way) {
    if (stamps[way] == 0) continue;  // empty
    stamps[way] = static_cast<uint32_t>(
        1 + std::lower_bound(sorted.begin(), sorted.end(), stamps[way]) - sorted.begin());
  }
  clocks_[set] = ways_ + 1;
}

// A tree of ways - 1 bits, node 1 at the root, children of n at 2n and 2n + 1, leaves at
// ways + way. A set bit: the upper half was used less recently.
void Cache::order_tree(uint64_t set, uint32_t way) {
  uint64_t tree = trees_[set];
  for (uint32_t node = ways_ + way; node > 1; node /= 2) {
    const uint64_t bit = uint64_t{1} << (node / 2);
    tree = (node & 1) == 0 ? tree | bit : tree & ~bit;
  }
  trees_[set] = tree;
}

uint32_t Cache::tree_victim(uint64_t set) const {
  uint32_t node = 1;
  while (node < ways_) node = 2 * node + static_cast<uint32_t>(trees_[set] >> node & 1);
  return node - ways_;
}

}  // namespace culprit::simulate
