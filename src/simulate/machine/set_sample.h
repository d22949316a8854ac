#pragma once

// SetSample: which cache sets are simulated when only 1 of N is (--sets 1/N), and how
// counts of the sample become estimates for all.
//
// Sets are taken in groups: lines whose numbers are equal modulo the groups. The number of
// groups divides the number of sets of each level, so a group owns whole sets at all of
// them: what happens in the simulated sets is what would happen if all were simulated.
// Which groups are taken is drawn at random (without replacement) from a seed.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulate/machine/machine.h"

namespace culprit::simulate {

/// The most groups there are.
inline constexpr uint32_t kMostSetGroups = 4096;

struct SampledCount {
  double value = 0;
  double variance = 0;
};

class SetSample {
 public:
  SetSample() = default;  // everything

  /// Errors: `one_of` is no power of two, or leaves fewer than two groups.
  static Result<SetSample> make(const MachineModel& machine, uint32_t one_of, uint64_t seed);

  [[nodiscard]] bool is_all() const { return taken_.empty(); }
  [[nodiscard]] bool holds(uint64_t line) const {
    return groups_mask_ == 0 || taken_[line & groups_mask_] != kNotTaken;
  }
  /// Of all sets, taken or not; a power of two.
  [[nodiscard]] uint64_t groups() const { return groups_mask_ + 1; }
  /// The number of taken groups, and which of them `line` (that the sample holds) belongs to.
  [[nodiscard]] uint32_t taken_groups() const { return taken_count_; }
  [[nodiscard]] uint32_t one_of() const {
    return taken_.empty() ? 1 : static_cast<uint32_t>(taken_.size()) / taken_count_;
  }
  [[nodiscard]] uint32_t group_of(uint64_t line) const {
    return taken_.empty() ? 0 : taken_[line & groups_mask_];
  }

  /// The groups fall into so many classes of equal size, for a split of counts that is small
  /// whatever the machine; at most `most`, a power of two.
  [[nodiscard]] uint32_t classes(uint32_t most) const { return std::min(taken_count_, most); }

  /// The total over all sets, from the counts of each taken group.
  /// Units:  counts -> counts
  /// Errors: the variance of a sample drawn without replacement: K^2 (1 - k/K) s^2 / k
  /// Source: W. G. Cochran, Sampling Techniques (1977), section 2.5 and theorem 2.2
  [[nodiscard]] SampledCount estimate_total(std::span<const uint64_t> counts_of_groups) const;

  /// The same for a count whose split by groups was not kept.
  /// Errors: the variance if each event fell into the sample by itself, n (1 - f) / f^2 with
  ///         f = k/K, times `clustering`: how much larger estimate_total()'s variance was
  ///         than this for the sum of all sites (1 if unknown)
  [[nodiscard]] SampledCount estimate_part(uint64_t count, double clustering) const;

 private:
  static constexpr uint32_t kNotTaken = ~uint32_t{0};
  std::vector<uint32_t> taken_;  // by group: its number among those taken
  uint32_t taken_count_ = 1;
  uint64_t groups_mask_ = 0;  // 0: everything
};

}  // namespace culprit::simulate
