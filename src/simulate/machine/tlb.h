#pragma once

// Tlb: one set-associative translation buffer with true LRU. A key is a page: its number,
// and whether it is a huge one.

#include <cstdint>

#include "simulate/machine/machine.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

inline constexpr int kPageShift = 12;
inline constexpr int kHugePageShift = 21;

/// The key of the page that holds `address`. Never 0.
inline uint64_t page_key(uint64_t address, bool huge) {
  return huge ? (address >> kHugePageShift) * 4 + 3 : (address >> kPageShift) * 4 + 1;
}

inline bool is_huge(uint64_t page) {
  return page % 4 == 3;
}
/// The first one of the page.
inline uint64_t address_of(uint64_t page) {
  return page / 4 << (is_huge(page) ? kHugePageShift : kPageShift);
}

class Tlb {
 public:
  struct Entry {
    uint64_t page = 0;  // 0: none
    uint64_t used = 0;  // when: a clock of the caller's, which grows from use to use
    uint32_t next = 0;  // in its chain
  };

  explicit Tlb(const TlbGeometry& geometry);

  /// Whether the page was there; then it is.
  bool use(uint64_t page, uint64_t now) {
    Entry& likely = find_likely(page);
    if (likely.page != page) return sets_ != 0 && search(page, now);
    likely.used = now;
    return true;
  }

  /// A quick look: the entry that has the page, or another one.
  Entry& find_likely(uint64_t page) { return entries_[chain_of(page)]; }
  /// An entry by its number, for those who come back to it.
  Entry& at(uint32_t number) { return entries_[number]; }
  [[nodiscard]] uint32_t number_of(const Entry& entry) const {
    return static_cast<uint32_t>(&entry - entries_.data());
  }

  /// Forgets the pages of which it is true: bool(address, is huge).
  template <class Condition>
  void drop_if(Condition condition) {
    for (uint32_t i = 1; i < entries_.size(); ++i) {
      const uint64_t page = entries_[i].page;
      if (page != 0 && condition(address_of(page), is_huge(page))) drop(i);
    }
  }

 private:
  /// An entry in the queue of its set. It may have been used since it got its place.
  struct Queued {
    uint64_t used = 0;
    uint32_t older = 0;
    uint32_t newer = 0;
  };

  uint32_t& chain_of(uint64_t page) { return chains_[(page >> 2) & (chains_.size() - 1)]; }
  uint32_t end_of_queue(uint64_t page) const;
  bool search(uint64_t page, uint64_t now);
  uint32_t find_oldest(uint32_t end);
  void queue(uint32_t entry, uint64_t used, uint32_t end);
  void leave_queue(uint32_t entry);
  void leave_chain(uint32_t entry);
  void drop(uint32_t entry);

  uint64_t sets_ = 0;
  static constexpr uint64_t kNobodys = ~uint64_t{0};
  ZeroedArray<Entry> entries_;    // from 1 on; number 0 has a page that no address is in
  ZeroedArray<uint32_t> chains_;  // by the low bits of a page's number: its entries, newest first
  ZeroedArray<Queued> queues_;  // the entries', and behind them the end of each set's queue, whose
                                // newer one is the oldest entry and whose older one the newest
};

}  // namespace culprit::simulate
