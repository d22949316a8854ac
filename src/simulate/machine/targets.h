#pragma once

// Where branches go: TargetBuffer (BTB) for direct ones, IndirectPredictor by the path of
// indirect branches before, ReturnStack for returns.

#include <array>
#include <cstdint>
#include <vector>

#include "simulate/machine/machine.h"

namespace culprit::simulate {

/// A set-associative table of branches and their targets, true LRU: each set in the order of
/// their last uses.
class TargetBuffer {
 public:
  explicit TargetBuffer(const BranchSettings& settings)
      : ways_(settings.target_ways),
        sets_(settings.target_entries / settings.target_ways),
        entries_(settings.target_entries) {}

  /// Whether it knew where the branch goes; then it does.
  bool use(uint64_t address, uint64_t target) {
    Entry& newest = entries_[((address ^ address >> 16) & (sets_ - 1)) * ways_];
    if (newest.address == address && newest.target == target) [[likely]]
      return true;
    return use_older(&newest, {address, target});
  }

 private:
  struct Entry {
    uint64_t address = ~uint64_t{0};
    uint64_t target = 0;
  };
  bool use_older(Entry* set, const Entry& entry);

  uint32_t ways_;
  uint32_t sets_;
  std::vector<Entry> entries_;
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

  std::array<std::vector<Entry>, kPathBits.size()> tables_;
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
