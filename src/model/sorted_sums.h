#pragma once

// SortedSums: adds rows up by key, where many rows meet few keys, and hands them out in the
// order of the keys.
//
// A hash table of a million keys costs a miss of the caches and of the TLB for each row.
// Here a table has a few thousand keys and fits into the second-level cache; when it is full,
// its rows are sorted, and the sorted runs are merged as they double:
//
//   add() → fresh ──sort──→ runs:  ████████ ████ ██ █   each at most half the one before
//
// So a row is moved once per doubling, and never sought in memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/rows.h"

namespace culprit {

template <class Row>
class SortedSums {
 public:
  /// `events`: what variances mean (add_cell). The same at each call, or grown.
  void add(const Row& row, const std::vector<Event>& events) {
    if (places_.empty()) places_.resize(2 * kFresh);
    size_t at = hash_key(row) % (2 * kFresh);
    for (; places_[at] != 0; at = (at + 1) % (2 * kFresh)) {
      Row& sum = fresh_[places_[at] - 1];
      if (!has_same_key(sum, row)) continue;
      add_row(sum, row, events);
      return;
    }
    fresh_.push_back(row);
    places_[at] = static_cast<uint32_t>(fresh_.size());
    if (fresh_.size() == kFresh) settle(events);
  }

  /// How many rows are held: at least the number of distinct keys, at most twice as many.
  [[nodiscard]] size_t entries() const { return fresh_.size() + settled_; }

  /// All sums by ascending key, no key twice; nothing is left behind.
  std::vector<Row> take(const std::vector<Event>& events) {
    settle(events);
    while (runs_.size() > 1) merge_last_two(events);
    Run all = runs_.empty() ? Run() : std::move(runs_.front());
    runs_.clear();
    settled_ = 0;
    return all;
  }

 private:
  using Run = std::vector<Row>;
  static constexpr size_t kFresh = size_t{1} << 14;

  static bool is_before(const Row& a, const Row& b) { return compare_keys(a, b) < 0; }

  /// Appends to a run that ends with this key or a lesser one.
  static void append(Run& run, const Row& row, const std::vector<Event>& events) {
    if (!run.empty() && has_same_key(run.back(), row)) {
      add_row(run.back(), row, events);
    } else {
      run.push_back(row);
    }
  }

  void settle(const std::vector<Event>& events) {
    if (fresh_.empty()) return;
    std::sort(fresh_.begin(), fresh_.end(), is_before);
    settled_ += fresh_.size();
    runs_.push_back(fresh_);
    fresh_.clear();
    std::fill(places_.begin(), places_.end(), 0);
    while (runs_.size() > 1 && runs_[runs_.size() - 2].size() < 2 * runs_.back().size()) {
      merge_last_two(events);
    }
  }

  void merge_last_two(const std::vector<Event>& events) {
    const Run later = std::move(runs_.back());
    runs_.pop_back();
    const Run earlier = std::move(runs_.back());
    Run& merged = runs_.back();
    merged = Run();
    // Room for no key in common: what is not written takes no memory, what has to grow is copied.
    merged.reserve(earlier.size() + later.size());
    auto a = earlier.begin();
    auto b = later.begin();
    while (a != earlier.end() && b != later.end()) {
      append(merged, is_before(*b, *a) ? *b++ : *a++, events);
    }
    for (; a != earlier.end(); ++a) append(merged, *a, events);
    for (; b != later.end(); ++b) append(merged, *b, events);
    settled_ -= earlier.size() + later.size() - merged.size();
  }

  Run fresh_;
  std::vector<uint32_t> places_;  // by hash: 1 + the index in `fresh_`; 0: none
  std::vector<Run> runs_;
  size_t settled_ = 0;  // rows of all runs
};

}  // namespace culprit
