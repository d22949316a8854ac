#pragma once

// SparseSets: the entries of a set-associative table, whose sets get theirs when they are first
// used, one behind the other. A program may have thousands of threads, each with caches and
// predictors of its own: what one takes follows from what it does, wherever that falls.
//
//     places_    set 0: none    set 1: 5    set 2: none    set 3: 1
//     entries_   | of set 3, 4 ways | of set 1 | not touched yet ...
//
// Entries begin as zeros. Sets may be placed by several threads at once, each its own.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

template <class Entry>
class SparseSets {
 public:
  static constexpr uint32_t kNowhere = ~uint32_t{0};

  SparseSets() = default;  // of no sets
  SparseSets(uint64_t sets, uint32_t ways) : ways_(ways), places_(sets), entries_(sets * ways) {}

  /// The number of a set's first entry, a multiple of the ways; kNowhere: it was never used.
  [[nodiscard]] uint32_t find(uint64_t set) const { return places_[set] - 1; }
  /// Its number, from now on if it had none.
  uint32_t place(uint64_t set) {
    uint32_t& place = places_[set];
    if (place == 0) [[unlikely]]
      place = std::atomic_ref(used_).fetch_add(ways_, std::memory_order_relaxed) + 1;
    return place - 1;
  }

  Entry& operator[](size_t entry) { return entries_[entry]; }
  const Entry& operator[](size_t entry) const { return entries_[entry]; }

 private:
  uint32_t ways_ = 1;
  uint32_t used_ = 0;             // entries
  ZeroedArray<uint32_t> places_;  // by set: the number of its first entry, plus 1; 0: none
  ZeroedArray<Entry> entries_;
};

}  // namespace culprit::simulate
