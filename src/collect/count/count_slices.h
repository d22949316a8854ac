#pragma once

// CountSlices: the readings of one run, piece by piece in the order of time. While every
// event has a counter to itself one piece says it all, and pieces are added up; once
// events share counters they are kept, at most a few hundred of them.

#include <cstdint>
#include <vector>

#include "collect/count/counter_set.h"

namespace culprit {

class CountSlices {
 public:
  /// `keep_all`: the user asked for intervals.
  explicit CountSlices(bool keep_all) : keep_all_(keep_all) {}

  /// What each counter counted since the last call (CounterSet::read_new).
  void add(std::vector<Reading> fresh);

  /// How long to wait until the next reading: longer while nothing is shared, and when
  /// there are many.
  [[nodiscard]] uint64_t period_ns() const { return period_ns_; }
  [[nodiscard]] const std::vector<std::vector<Reading>>& slices() const { return slices_; }

 private:
  void halve();

  bool keep_all_;
  bool is_shared_ = false;
  uint64_t period_ns_ = 10'000'000;
  std::vector<std::vector<Reading>> slices_;
};

}  // namespace culprit
