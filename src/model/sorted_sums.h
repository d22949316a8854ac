#pragma once

// SortedSums: adds values up by key, where many values meet few keys, and hands them out in
// the order of the keys.
//
// A hash table of a million keys costs a miss of the caches and of the TLB for each value.
// Here a table has a few thousand keys and fits into the second-level cache; when it is full,
// its entries are sorted, and the sorted runs are merged as they double:
//
//   add() → fresh ──sort──→ runs:  ████████ ████ ██ █   each at most half the one before
//
// So an entry is moved once per doubling, and never sought in memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace culprit {

/// Key: ordered by <=>. Sum: has +=. Hash: of a key, good in its low bits.
template <class Key, class Sum, class Hash>
class SortedSums {
 public:
  using Entry = std::pair<Key, Sum>;

  void add(const Key& key, const Sum& sum) {
    if (places_.empty()) places_.resize(2 * kFresh);
    size_t at = Hash()(key) % (2 * kFresh);
    for (; places_[at] != 0; at = (at + 1) % (2 * kFresh)) {
      Entry& entry = fresh_[places_[at] - 1];
      if (entry.first != key) continue;
      entry.second += sum;
      return;
    }
    fresh_.emplace_back(key, sum);
    places_[at] = static_cast<uint32_t>(fresh_.size());
    if (fresh_.size() == kFresh) settle();
  }

  /// How many entries are held: at least the number of distinct keys.
  [[nodiscard]] size_t entries() const { return fresh_.size() + settled_; }

  /// All sums by ascending key, no key twice; nothing is left behind.
  std::vector<Entry> take() {
    settle();
    while (runs_.size() > 1) merge_last_two();
    std::vector<Entry> all = runs_.empty() ? Run() : std::move(runs_.front());
    runs_.clear();
    settled_ = 0;
    return all;
  }

 private:
  using Run = std::vector<Entry>;
  static constexpr size_t kFresh = size_t{1} << 14;

  static bool is_before(const Entry& a, const Entry& b) { return a.first < b.first; }

  /// Appends to a run that ends with this key or a lesser one.
  static void append(Run& run, const Entry& entry) {
    if (!run.empty() && run.back().first == entry.first) {
      run.back().second += entry.second;
    } else {
      run.push_back(entry);
    }
  }

  void settle() {
    if (fresh_.empty()) return;
    std::sort(fresh_.begin(), fresh_.end(), is_before);
    settled_ += fresh_.size();
    runs_.push_back(fresh_);
    fresh_.clear();
    std::fill(places_.begin(), places_.end(), 0);
    while (runs_.size() > 1 && runs_[runs_.size() - 2].size() < 2 * runs_.back().size()) {
      merge_last_two();
    }
  }

  void merge_last_two() {
    const Run later = std::move(runs_.back());
    runs_.pop_back();
    const Run earlier = std::move(runs_.back());
    Run& merged = runs_.back();
    merged = Run();
    merged.reserve(earlier.size() + later.size());
    auto a = earlier.begin();
    auto b = later.begin();
    while (a != earlier.end() && b != later.end()) append(merged, is_before(*b, *a) ? *b++ : *a++);
    for (; a != earlier.end(); ++a) append(merged, *a);
    for (; b != later.end(); ++b) append(merged, *b);
    settled_ -= earlier.size() + later.size() - merged.size();
  }

  Run fresh_;
  std::vector<uint32_t> places_;  // by hash: 1 + the index in `fresh_`; 0: none
  std::vector<Run> runs_;
  size_t settled_ = 0;  // entries of all runs
};

}  // namespace culprit
