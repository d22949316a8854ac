#pragma once

// SliceSums: counts by slice of a run's time, while the run goes on. Nobody knows how long it will
// be, so slices begin narrow, and whenever more than kMostSlices would be needed they become twice
// as wide. What was handed out before stays narrow: wider slices are made of whole narrower ones,
// so that a reader adds them up (docs/decisions/0020-slices-of-time.md).
//
//     begin(0)      10 ms wide      |||||||||||||||||||| ...  200 slices: 2 s
//     add at 2 s    20 ms wide       | | | | | | | | | | | | ...   200 slices: 4 s

#include <cstdint>
#include <optional>
#include <vector>

#include "model/sorted_sums.h"

namespace culprit {

class SliceSums {
 public:
  static constexpr uint64_t kFirstWidthNs = 10'000'000;
  static constexpr uint64_t kMostSlices = 200;

  /// A run begins at this time of the clock that samples have. Before it nothing is kept.
  void begin(uint64_t start_ns);

  /// Adds `what` at a time, or of a time that lasted from one to the other (its value, in ns) to
  /// each slice what lies in it, and its samples to the last. What was before the run's start
  /// counts in its first slice; times of 0 are not known and kept in none.
  void add(SliceCount what, uint64_t from_ns, uint64_t until_ns, const std::vector<Event>& events);

  /// As SortedSums.
  [[nodiscard]] size_t entries() const { return sums_.entries(); }
  std::vector<SliceCount> take(const std::vector<Event>& events) { return sums_.take(events); }

 private:
  std::optional<uint64_t> start_ns_;
  uint64_t width_ns_ = kFirstWidthNs;
  SortedSums<SliceCount> sums_;
};

}  // namespace culprit
