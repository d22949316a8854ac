#pragma once

// HugePages: which addresses are mapped by 2 MiB pages. Asked when a first-level TLB does not
// have a page; changed when the program maps memory.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace culprit::simulate {

class HugePages {
 public:
  void set(uint64_t begin, uint64_t end, bool huge) {
    if (begin >= end) return;
    const std::unique_lock lock(mutex_);
    cut(begin);
    cut(end);
    const auto first = ranges_.lower_bound(begin);
    const auto last = ranges_.lower_bound(end);
    const bool were_any = first != last;
    ranges_.erase(first, last);
    if (huge) ranges_.emplace(begin, end);
    any_.store(!ranges_.empty(), std::memory_order_relaxed);
    if (huge || were_any) changes_.fetch_add(1, std::memory_order_relaxed);
  }

  /// How often pages have changed their size. TLBs filled before may hold what is no more.
  [[nodiscard]] uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

  [[nodiscard]] bool holds(uint64_t address) const {
    if (!any_.load(std::memory_order_relaxed)) return false;
    const std::shared_lock lock(mutex_);
    const auto after = ranges_.upper_bound(address);
    return after != ranges_.begin() && address < std::prev(after)->second;
  }

 private:
  /// Splits the range that holds `at` in two.
  void cut(uint64_t at) {
    const auto after = ranges_.lower_bound(at);
    if (after == ranges_.begin()) return;
    const auto range = std::prev(after);
    if (range->second <= at) return;
    ranges_.emplace(at, range->second);
    range->second = at;
  }

  mutable std::shared_mutex mutex_;
  std::map<uint64_t, uint64_t> ranges_;  // begin -> end, none overlap
  std::atomic<bool> any_{false};
  std::atomic<uint64_t> changes_{0};
};

}  // namespace culprit::simulate
