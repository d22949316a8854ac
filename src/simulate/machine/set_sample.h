#pragma once

// SetSample: which cache sets are simulated when only 1 of N is (--sets 1/N), and how
// counts of the sample become estimates for all.
//
// Sets are taken in groups: lines whose numbers are equal modulo the groups. The number of
// groups divides the number of sets of each level, so a group owns whole sets at all of
// them: what happens in the simulated sets is what would happen if all were simulated.
// Which groups are taken is drawn at random (without replacement) from a seed.
//
// A sample may begin later: until begin() all sets are simulated. Groups that were hot by then can
// stay for certain (a stride of a power of two lives in one set, which few draws would take); the
// others are drawn from, and what each of those counts stands for is weight().
//
// Each group that is simulated is of a stratum: 0 are those that are for certain; from 1 on, random
// groups of those that were drawn.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "simulate/machine/machine.h"

namespace culprit::simulate {

/// The most groups there are.
inline constexpr uint32_t kMostSetGroups = 4096;

/// The most random groups that drawn ones are divided into, for the errors of what they count.
inline constexpr uint32_t kMostRandomGroups = 16;

struct SampledCount {
  double value = 0;
  double variance = 0;
};

/// The total over all sets of a count in drawn groups, each event of which stands for `weight`.
/// Errors: the variance if each event fell into the sample by itself, n (1 - 1/w) w^2, times
///         `clustering`: how much larger that of the random groups is (1 if unknown)
SampledCount estimate_part(uint64_t count, uint32_t weight, double clustering);

class SetSample {
 public:
  SetSample() = default;  // everything

  static constexpr uint8_t kNotTaken = 0xff;
  static constexpr uint8_t kCertain = 0;

  struct Plan {
    uint32_t one_of = 1;  // a power of two
    uint64_t seed = 1;
    bool begins_later = false;  // all is held until begin()
    uint32_t most_groups = kMostSetGroups;
  };
  /// Errors: `one_of` is no power of two, or leaves fewer than two groups.
  static Result<SetSample> make(const MachineModel& machine, const Plan& plan);

  /// Draws the sample, if it has not begun. `heat`: by group, how much happened there so far.
  /// Groups with more than kHot times the mean stay for certain, as many as fit. Others may be
  /// reading meanwhile.
  void begin(std::span<const uint64_t> heat);

  [[nodiscard]] bool is_all() const { return plan_.one_of == 1; }
  /// Whether it is drawn: until then all is held.
  [[nodiscard]] bool has_begun() const { return weight() > 1; }
  [[nodiscard]] bool holds(uint64_t line) const { return stratum_of(line) != kNotTaken; }
  /// kNotTaken of a line that the sample does not hold.
  [[nodiscard]] uint8_t stratum_of(uint64_t line) const {
    return strata_.empty() ? kCertain : __atomic_load_n(&strata_[line & groups_mask_], 0);
  }
  /// The number of all groups, taken or not; a power of two.
  [[nodiscard]] uint64_t groups() const { return groups_mask_ + 1; }
  /// How many groups are drawn.
  [[nodiscard]] uint32_t drawn_groups() const { return drawn_; }
  /// How many random groups they fall into, all of equal size: strata 1 to so many.
  [[nodiscard]] uint32_t random_groups() const { return std::min(drawn_, kMostRandomGroups); }
  [[nodiscard]] uint32_t one_of() const { return plan_.one_of; }
  [[nodiscard]] uint64_t seed() const { return plan_.seed; }
  /// What one event in a drawn group stands for; 1 before begin().
  [[nodiscard]] uint32_t weight() const { return __atomic_load_n(&weight_, 0); }

  /// The total over all sets, from the counts of each drawn group, where none is for certain.
  /// Units:  counts -> counts
  /// Errors: the variance of a sample drawn without replacement: K^2 (1 - k/K) s^2 / k
  /// Source: W. G. Cochran, Sampling Techniques (1977), section 2.5 and theorem 2.2
  [[nodiscard]] SampledCount estimate_total(std::span<const uint64_t> counts_of_groups) const;

  /// Estimates a count whose split by groups was not kept.
  [[nodiscard]] SampledCount estimate_part(uint64_t count, double clustering) const {
    return culprit::simulate::estimate_part(count, weight(), clustering);
  }

 private:
  void draw(const std::vector<uint32_t>& order);

  Plan plan_;
  std::vector<uint8_t> strata_;  // by group; empty: everything is held
  uint32_t drawn_ = 0;
  uint32_t weight_ = 1;
  uint64_t groups_mask_ = 0;
};

}  // namespace culprit::simulate
