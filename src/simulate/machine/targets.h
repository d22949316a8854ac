#pragma once

// Where branches go: TargetBuffer (BTB) for direct ones, IndirectPredictor by the path of
// indirect branches before, ReturnStack for returns.

#include <array>
#include <cstdint>
#include <vector>

#include "simulate/machine/machine.h"
#include "simulate/machine/sparse_sets.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

/// A set-associative table of branches and their targets, true LRU: each set in the order of
/// their last uses.
class TargetBuffer {
 public:
  explicit TargetBuffer(const BranchSettings& settings)
      : ways_(settings.target_ways),
        sets_(settings.target_entries / settings.target_ways),
        entries_(sets_, ways_) {}

  /// Whether it knew where the branch goes; then it does.
  bool use(uint64_t address, uint64_t target) {
    const uint64_t set = (address ^ address >> 16) & (sets_ - 1);
    const uint32_t newest = entries_.find(set);
    if (newest != SparseSets<Entry>::kNowhere && entries_[newest].address == address &&
        entries_[newest].target == target) [[likely]]
      return true;
    return use_older(set, {address, target});
  }

 private:
  struct Entry {
    uint64_t address;  // 0: it is empty, as no code is there
    uint64_t target;
  };
  bool use_older(uint64_t set, const Entry& entry);

  uint32_t ways_;
  uint32_t sets_;
  SparseSets<Entry> entries_;
};

/// The target last time, by address; and two tables tagged with address and the targets of the
/// last 3 and the last 12 indirect branches. The longest path that knows the branch predicts.
/// Source: A. Seznec, A 64-Kbytes ITTAGE indirect branch predictor, JWAC-2 (2011), reduced
class IndirectPredictor {
 public:
  explicit IndirectPredictor(const BranchSettings& settings);

  /// Whether the prediction for the branch was `target`; then it learns.
  bool use(uint64_t address, uint64_t target);

 private:
  struct Entry {
    uint16_t tag = 0;
    uint8_t confidence = 0;  // 0 to 3
    uint64_t target = 0;
  };
  static constexpr std::array<uint32_t, 3> kPathBits{0, 15, 60};  // five for each target

  Entry& find(size_t table, uint64_t address, uint16_t& tag);

  std::array<ZeroedArray<Entry>, kPathBits.size()> tables_;
  uint64_t path_ = 0;
};

/// A ring: what is deeper than it holds is forgotten.
class ReturnStack {
 public:
  explicit ReturnStack(const BranchSettings& settings) : entries_(settings.return_stack) {}

  void push(uint64_t return_to) {
    top_ = (top_ + 1) % entries_.size();
    entries_[top_] = return_to;
  }
  uint64_t pop() {
    const uint64_t target = entries_[top_];
    top_ = (top_ + entries_.size() - 1) % entries_.size();
    return target;
  }

 private:
  std::vector<uint64_t> entries_;
  size_t top_ = 0;
};

}  // namespace culprit::simulate
