#pragma once

// SampledLines: which lines are modelled with --sets, where an access finds it fast.

#include <bit>
#include <cstdint>

#include "simulate/machine/hierarchy.h"

namespace culprit::counting {

class SampledLines {
 public:
  static constexpr uint8_t kNot = simulate::SetSample::kNotTaken;

  SampledLines() = default;
  /// The machine must outlive it.
  explicit SampledLines(const simulate::Hierarchy& machine)
      : sample_(&machine.sample()),
        line_bytes_(machine.machine().line_bytes),
        line_shift_(static_cast<uint32_t>(std::countr_zero(line_bytes_))) {}

  [[nodiscard]] uint8_t stratum_of(uint64_t address) const {
    return sample_->stratum_of(address >> line_shift_);
  }
  [[nodiscard]] uint32_t line_shift() const { return line_shift_; }
  /// False: an access of 8 bytes at most, which parts of accesses are, is not modelled.
  [[nodiscard]] bool may_hold(uint64_t address) const {
    constexpr uint64_t kMostBytes = 8;
    const bool may_reach_next = (address & (line_bytes_ - 1)) > line_bytes_ - kMostBytes;
    return stratum_of(address) != kNot || may_reach_next;
  }
  /// The stratum of the first line that the access touches and the sample holds.
  [[nodiscard]] uint8_t stratum_of(uint64_t address, uint32_t bytes) const {
    const uint8_t first = stratum_of(address);
    const bool is_one_line = (address & (line_bytes_ - 1)) + bytes <= line_bytes_;
    return first != kNot || is_one_line ? first : stratum_of(address + bytes - 1);
  }
  /// Lines that may be modelled: a bit for each number of a line modulo 64.
  [[nodiscard]] uint64_t find_followed() const {
    constexpr uint64_t kBits = 64;
    uint64_t followed = sample_->groups() > kBits ? ~uint64_t{0} : 0;
    for (uint64_t line = 0; line < kBits; ++line) {
      if (sample_->holds(line)) followed |= uint64_t{1} << line;
    }
    return followed;
  }
  /// The number of the group of sets that the address is in.
  [[nodiscard]] uint64_t group_of(uint64_t address) const {
    return (address >> line_shift_) & (sample_->groups() - 1);
  }

 private:
  const simulate::SetSample* sample_ = nullptr;
  uint64_t line_bytes_ = 0;
  uint32_t line_shift_ = 0;
};

}  // namespace culprit::counting
