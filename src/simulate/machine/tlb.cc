#include "simulate/machine/tlb.h"

namespace culprit::simulate {

Tlb::Tlb(const TlbGeometry& geometry) : pages_(geometry.entries), stamps_(geometry.entries) {
  if (geometry.entries == 0) return;
  ways_ = geometry.ways;
  sets_ = geometry.entries / geometry.ways;
}

bool Tlb::search(uint64_t page) {
  const uint64_t first = (page >> 2) % sets_ * ways_;
  uint64_t* pages = pages_.data() + first;
  uint64_t* stamps = stamps_.data() + first;
  // Most often it is there: the oldest is looked for only if it is not.
  for (uint32_t way = 0; way < ways_; ++way) {
    if (pages[way] != page) continue;
    stamps[way] = ++clock_;
    likely_[likely_place(page)] = static_cast<uint32_t>(first + way);
    return true;
  }
  uint32_t oldest = 0;
  for (uint32_t way = 1; way < ways_; ++way) {
    if (stamps[way] < stamps[oldest]) oldest = way;
  }
  pages[oldest] = page;
  stamps[oldest] = ++clock_;
  likely_[likely_place(page)] = static_cast<uint32_t>(first + oldest);
  return false;
}

}  // namespace culprit::simulate
