#include "simulate/machine/cache.h"

namespace culprit::simulate {

Cache::Cache(const CacheGeometry& geometry, uint32_t line_bytes) {
  if (!geometry.present()) return;
  sets_ = compute_sets(geometry, line_bytes);
  ways_ = geometry.ways;
  power_of_two_ = std::has_single_bit(sets_);
  replacement_ = geometry.replacement;
  entries_ = SparseSets<Entry>(sets_, ways_);
  if (replacement_ == Replacement::plru) trees_ = ZeroedArray<uint64_t>(sets_);
}

Slot Cache::find_victim(uint64_t line) {
  const Slot first = entries_.place(set_of(line));
  if (replacement_ == Replacement::lru) return find_oldest(first);
  uint32_t way = 0;
  for (; way < ways_; ++way) {
    if (entries_[first + way].tag == 0) return first + way;
  }
  switch (replacement_) {
    case Replacement::lru:
      break;
    case Replacement::plru:
      way = tree_victim(first);
      break;
    case Replacement::random:  // Marsaglia's xorshift, 2003
      random_ ^= random_ << 13;
      random_ ^= random_ >> 7;
      random_ ^= random_ << 17;
      way = static_cast<uint32_t>((random_ >> 32) % ways_);
      break;
  }
  return first + way;
}

Evicted Cache::fill(uint64_t line, Slot slot, uint8_t flags, uint64_t now) {
  const Evicted evicted = remove(slot);
  entries_[slot] = {~line, flags};
  use(slot, now);
  return evicted;
}

Evicted Cache::remove(Slot slot) {
  if (empty_at(slot)) return {};
  const Evicted evicted{line_at(slot), flags_at(slot)};
  entries_[slot] = {};
  return evicted;
}

/// An empty slot is older than any other.
Slot Cache::find_oldest(Slot first) const {
  const Entry* const set = &entries_[first];
  const Entry* oldest = set;
  uint64_t used = oldest->used_and_flags;
  for (const Entry* entry = set + 1; entry != set + ways_; ++entry) {
    const bool is_older = entry->used_and_flags < used;
    oldest = is_older ? entry : oldest;
    used = is_older ? entry->used_and_flags : used;
  }
  return first + static_cast<Slot>(oldest - set);
}

// A tree of ways - 1 bits, node 1 at the root, children of n at 2n and 2n + 1, leaves at
// ways + way. A set bit: the upper half was used less recently.
void Cache::order_tree(Slot slot) {
  uint64_t& tree = trees_[slot / ways_];
  for (uint32_t node = ways_ + slot % ways_; node > 1; node /= 2) {
    const uint64_t bit = uint64_t{1} << (node / 2);
    tree = (node & 1) == 0 ? tree | bit : tree & ~bit;
  }
}

uint32_t Cache::tree_victim(Slot first) const {
  const uint64_t tree = trees_[first / ways_];
  uint32_t node = 1;
  while (node < ways_) node = 2 * node + static_cast<uint32_t>(tree >> node & 1);
  return node - ways_;
}

}  // namespace culprit::simulate
