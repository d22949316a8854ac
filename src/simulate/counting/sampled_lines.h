#pragma once

// SampledLines: which lines are modelled with --sets, where an access finds it fast.

#include <bit>
#include <cstdint>

#include "simulate/counting/counts_file.h"
#include "simulate/machine/hierarchy.h"

namespace culprit::counting {

class SampledLines {
 public:
  static constexpr uint8_t kNot = 0xff;

  SampledLines() = default;
  explicit SampledLines(const simulate::Hierarchy& machine) {
    const simulate::SetSample& sample = machine.sample();
    line_bytes_ = machine.machine().line_bytes;
    line_shift_ = static_cast<uint32_t>(std::countr_zero(line_bytes_));
    groups_mask_ = sample.groups() - 1;
    const uint32_t classes = sample.classes(counts_file::kMostSampleClasses);
    for (uint64_t line = 0; line < sample.groups(); ++line) {
      classes_[line] =
          sample.holds(line) ? static_cast<uint8_t>(sample.group_of(line) % classes) : kNot;
    }
  }

  [[nodiscard]] uint8_t class_of(uint64_t address) const {
    return classes_[(address >> line_shift_) & groups_mask_];
  }
  /// False: an access of 8 bytes at most, which parts of accesses are, is not modelled.
  [[nodiscard]] bool may_hold(uint64_t address) const {
    constexpr uint64_t kMostBytes = 8;
    const bool may_reach_next = (address & (line_bytes_ - 1)) > line_bytes_ - kMostBytes;
    return class_of(address) != kNot || may_reach_next;
  }
  /// The class of the first line that the access touches and the sample holds.
  [[nodiscard]] uint8_t class_of(uint64_t address, uint32_t bytes) const {
    const uint8_t first = class_of(address);
    const bool is_one_line = (address & (line_bytes_ - 1)) + bytes <= line_bytes_;
    return first != kNot || is_one_line ? first : class_of(address + bytes - 1);
  }

 private:
  uint32_t line_shift_ = 0;
  uint64_t line_bytes_ = 0;
  uint64_t groups_mask_ = 0;
  uint8_t classes_[simulate::kMostSetGroups] = {};  // by group of sets
};

}  // namespace culprit::counting
