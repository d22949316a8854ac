#pragma once

// InstructionWindow: the instructions under way for so long that dispatch may have to wait for
// them, in program order. They leave in order: dispatch goes on until the reorder buffer, or the
// load queue, is full behind the oldest one.
//
//     oldest done at 400          dispatch at 120 ─→ full: the core waits until 400, and says
//     [ load 400 | add 401 | ... ]                   whose time that is (IntervalCore)

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "simulate/machine/cycles.h"
#include "simulate/machine/machine.h"

namespace culprit::simulate {

/// A load that missed, while its instruction waits for it.
struct LoadMiss {
  Ticks done = 0;
  Ticks own = 0;  // of that: latency beyond an L1 hit's
  Ticks translation = 0;
  Ticks bandwidth = 0;
  CycleClass kind = CycleClass::load_l2;
  Site site = 0;  // whose it is; 0: the instruction's
};

class InstructionWindow {
 public:
  struct Entry {
    uint64_t uop = 0;   // its number
    uint64_t load = 0;  // the same in loads
    Ticks done = 0;
    Ticks division = 0;   // its latency, if it is one
    Ticks microcode = 0;  // the same
    Site site = 0;
    bool missed = false;  // there is a LoadMiss at the same place
  };

  explicit InstructionWindow(const CoreSettings& core)
      : reorder_buffer_(core.reorder_buffer),
        load_queue_(core.load_queue),
        ring_(std::bit_ceil(std::max<size_t>(core.reorder_buffer, 512))),
        misses_(ring_.size()) {}

  /// Whether so many uops, or loads, must wait for the oldest instruction.
  [[nodiscard]] bool is_full(uint64_t uops, uint64_t loads) const {
    return uops >= full_uop_ || loads >= full_load_;
  }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  /// Instructions of no uops fill the ring, though not the reorder buffer.
  [[nodiscard]] bool has_no_place() const { return count_ == ring_.size(); }
  /// Who waits for an older instruction that takes longer has waited for this one, too.
  [[nodiscard]] bool hides(Ticks done) const { return count_ != 0 && done <= last_done_; }

  [[nodiscard]] const Entry& oldest() const { return ring_[first_]; }
  /// Only of one that missed.
  [[nodiscard]] const LoadMiss& oldest_miss() const { return misses_[first_]; }

  /// `miss` is kept if the instruction missed.
  void push(const Entry& entry, const LoadMiss& miss) {
    last_done_ = entry.done;
    const size_t place = (first_ + count_) & (ring_.size() - 1);
    ring_[place] = entry;
    if (entry.missed) misses_[place] = miss;
    if (count_++ == 0) set_limits(entry);
  }
  void pop() {
    first_ = (first_ + 1) & (ring_.size() - 1);
    if (--count_ == 0) {
      full_uop_ = full_load_ = kNever;
    } else {
      set_limits(oldest());
    }
  }

 private:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  void set_limits(const Entry& oldest) {
    full_uop_ = oldest.uop + reorder_buffer_;
    full_load_ = oldest.load + load_queue_;
  }

  uint32_t reorder_buffer_;
  uint32_t load_queue_;
  uint64_t full_uop_ = kNever;  // the first uop, and load, that must wait for the oldest
  uint64_t full_load_ = kNever;
  std::vector<Entry> ring_;       // a power of two
  std::vector<LoadMiss> misses_;  // at the same places
  size_t first_ = 0;
  size_t count_ = 0;
  Ticks last_done_ = 0;  // of the newest
};

/// The last loads that missed: also those that the window does not have, because an older
/// instruction takes longer.
class RecentMisses {
 public:
  struct Entry {
    LoadMiss miss;
    Site site = 0;  // of the instruction
  };

  void add(const LoadMiss& miss, Site site) {
    entries_[next_] = {miss, site};
    next_ = (next_ + 1) % entries_.size();
  }
  /// The one that is done last between `after` and `until`; null: none is.
  [[nodiscard]] const Entry* find_last(Ticks after, Ticks until) const {
    const Entry* last = nullptr;
    for (const Entry& one : entries_) {
      const bool is_between = one.miss.done > after && one.miss.done <= until;
      if (is_between && (last == nullptr || one.miss.done > last->miss.done)) last = &one;
    }
    return last;
  }

 private:
  std::array<Entry, 8> entries_{};
  size_t next_ = 0;
};

}  // namespace culprit::simulate
