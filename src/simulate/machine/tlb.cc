#include "simulate/machine/tlb.h"

#include <algorithm>
#include <bit>

namespace culprit::simulate {

Tlb::Tlb(const TlbGeometry& geometry)
    : entries_(size_t{1} + geometry.entries),
      chains_(std::bit_ceil(std::max<size_t>(4 * size_t{geometry.entries}, 256))) {
  entries_[0].page = kNobodys;
  if (geometry.entries == 0) return;
  sets_ = geometry.entries / geometry.ways;
  queues_ = ZeroedArray<Queued>(entries_.size() + sets_);
  for (uint32_t set = 0; set < sets_; ++set) {
    const auto end = static_cast<uint32_t>(entries_.size() + set);
    queues_[end] = {0, end, end};
    for (uint32_t way = 1; way <= geometry.ways; ++way) queue(set * geometry.ways + way, 0, end);
  }
}

uint32_t Tlb::end_of_queue(uint64_t page) const {
  const uint64_t number = page >> 2;
  const uint64_t set = std::has_single_bit(sets_) ? number & (sets_ - 1) : number % sets_;
  return static_cast<uint32_t>(entries_.size() + set);
}

bool Tlb::search(uint64_t page, uint64_t now) {
  uint32_t& chain = chain_of(page);
  uint32_t entry = chain;
  while (entry != 0 && entries_[entry].page != page) entry = entries_[entry].next;
  const bool is_there = entry != 0;
  if (!is_there) {
    const uint32_t end = end_of_queue(page);
    entry = find_oldest(end);
    leave_queue(entry);
    queue(entry, now, end);
  }
  leave_chain(entry);
  entries_[entry] = {page, now, chain};
  chain = entry;
  return is_there;
}

/// No entry is older than its place in the queue says: if the first one is not newer, it is the
/// oldest. If it is, it gets the place that it should have.
uint32_t Tlb::find_oldest(uint32_t end) {
  while (true) {
    const uint32_t oldest = queues_[end].newer;
    const uint64_t used = entries_[oldest].used;
    if (queues_[oldest].used == used) return oldest;
    leave_queue(oldest);
    queue(oldest, used, end);
  }
}

/// Most places are near one of the two ends: looks from both at once.
void Tlb::queue(uint32_t entry, uint64_t used, uint32_t end) {
  uint32_t before = queues_[end].older;
  uint32_t after = queues_[end].newer;
  while (before != end && queues_[before].used > used) {
    if (queues_[after].used > used) {
      before = queues_[after].older;
      break;
    }
    before = queues_[before].older;
    after = queues_[after].newer;
  }
  after = queues_[before].newer;
  queues_[entry] = {used, before, after};
  queues_[before].newer = entry;
  queues_[after].older = entry;
}

void Tlb::leave_queue(uint32_t entry) {
  const Queued queued = queues_[entry];
  queues_[queued.older].newer = queued.newer;
  queues_[queued.newer].older = queued.older;
}

/// Out of the chain that it is in, if it has a page.
void Tlb::leave_chain(uint32_t entry) {
  if (entries_[entry].page == 0) return;
  uint32_t* at = &chain_of(entries_[entry].page);
  while (*at != entry) at = &entries_[*at].next;
  *at = entries_[entry].next;
}

void Tlb::drop(uint32_t entry) {
  const uint32_t end = end_of_queue(entries_[entry].page);
  leave_chain(entry);
  leave_queue(entry);
  entries_[entry] = {};
  queue(entry, 0, end);
}

}  // namespace culprit::simulate
