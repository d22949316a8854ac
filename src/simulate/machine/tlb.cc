#include "simulate/machine/tlb.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace culprit::simulate {

Tlb::Tlb(const TlbGeometry& geometry)
    : entries_(size_t{1} + geometry.entries),
      chains_(std::bit_ceil(std::max<size_t>(4 * size_t{geometry.entries}, 256))),
      heaps_(geometry.entries) {
  if (geometry.entries == 0) return;
  ways_ = geometry.ways;
  sets_ = geometry.entries / geometry.ways;
  for (uint32_t i = 0; i < geometry.entries; ++i) heaps_[i] = {0, i + 1};
}

bool Tlb::search(uint64_t page, uint64_t now) {
  uint32_t& chain = chain_of(page);
  uint32_t entry = chain;
  while (entry != 0 && entries_[entry].page != page) entry = entries_[entry].next;
  const bool is_there = entry != 0;
  if (!is_there) {
    Age* const heap = &heaps_[(page >> 2) % sets_ * ways_];
    entry = find_oldest(heap);
    heap->used = now;
    sink(heap);
  }
  unlink(entry);
  entries_[entry] = {page, now, chain};
  chain = entry;
  return is_there;
}

/// Ages in the heap are never younger than they are: if the first one is right, it is the oldest.
uint32_t Tlb::find_oldest(Age* heap) const {
  while (heap->used != entries_[heap->entry].used) {
    heap->used = entries_[heap->entry].used;
    sink(heap);
  }
  return heap->entry;
}

/// The first one finds its place.
void Tlb::sink(Age* heap) const {
  uint32_t at = 0;
  for (uint32_t child = 1; child < ways_; child = 2 * at + 1) {
    if (child + 1 < ways_ && heap[child + 1].used < heap[child].used) ++child;
    if (heap[at].used <= heap[child].used) return;
    std::swap(heap[at], heap[child]);
    at = child;
  }
}

/// Out of the chain that it is in, if it has a page.
void Tlb::unlink(uint32_t entry) {
  if (entries_[entry].page == 0) return;
  uint32_t* at = &chain_of(entries_[entry].page);
  while (*at != entry) at = &entries_[*at].next;
  *at = entries_[entry].next;
}

/// They are to be looked at again.
void Tlb::forget_ages() {
  for (size_t i = 0; i < heaps_.size(); ++i) heaps_[i].used = 0;
}

}  // namespace culprit::simulate
