#pragma once

// LostLines: which instruction had a line that a cache has evicted, so that the next one that
// brings it in can be told: had the line stayed, that access would have been a hit. An edge
// `refetch` is what fusing two loops, blocking one, or padding an array would save.
//
//     site 7 loads a[0]     a tenure of site 7
//     site 3 loads b[0]     evicts it, by capacity       note(line of a[0], 7, capacity)
//     site 9 loads a[0]     misses                       take(): 7, by capacity: an edge 7 -> 9
//
// A line's place is its number modulo the places, and has the latest line that was evicted there:
// what is older is forgotten, and its refetch then looks like a line that was never here.

#include <cstdint>
#include <optional>

#include "simulate/machine/origin.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

class LostLines {
 public:
  struct Lost {
    Origin had;  // who brought it in
    bool by_capacity = false;
  };

  LostLines() = default;  // remembers nothing
  /// `places`: a power of two. Memory is taken for those that are used only.
  explicit LostLines(size_t places) : entries_(places), mask_(places - 1) {}

  /// `line`: a number that no other line has; `place`: where it is looked for.
  void note(uint64_t line, uint64_t place, Origin had, bool by_capacity) {
    if (entries_.size() == 0) return;
    entries_[place & mask_] = {line + 1, had, by_capacity};
  }

  /// What is known of a line that comes back, once.
  std::optional<Lost> take(uint64_t line, uint64_t place) {
    if (entries_.size() == 0) return std::nullopt;
    Entry& entry = entries_[place & mask_];
    if (entry.line_after != line + 1) return std::nullopt;
    entry.line_after = 0;
    return Lost{entry.had, entry.by_capacity};
  }

 private:
  struct Entry {
    uint64_t line_after;  // the line's number + 1; 0: none
    Origin had;
    bool by_capacity;
  };
  static_assert(sizeof(Entry) == 16);

  ZeroedArray<Entry> entries_;
  uint64_t mask_ = 0;
};

}  // namespace culprit::simulate
