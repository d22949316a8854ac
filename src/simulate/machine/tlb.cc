#include "simulate/machine/tlb.h"

namespace culprit::simulate {

Tlb::Tlb(const TlbGeometry& geometry) : entries_(geometry.entries) {
  if (geometry.entries == 0) return;
  ways_ = geometry.ways;
  sets_ = geometry.entries / geometry.ways;
}

bool Tlb::search(uint64_t page, uint64_t now) {
  const uint64_t first = (page >> 2) % sets_ * ways_;
  Entry* const set = entries_.data() + first;
  // Most often it is there: the oldest is looked for only if it is not.
  uint32_t way = 0;
  while (way < ways_ && set[way].page != page) ++way;
  const bool is_there = way < ways_;
  if (!is_there) {
    way = 0;
    for (uint32_t other = 1; other < ways_; ++other) {
      if (set[other].used < set[way].used) way = other;
    }
  }
  set[way] = {page, now};
  likely_[likely_place(page)] = static_cast<uint32_t>(first + way);
  return is_there;
}

}  // namespace culprit::simulate
