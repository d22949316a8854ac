#pragma once

// The errors of what a sample of cache sets tells (--sets): from how the random groups of drawn
// sets differ. A profile has each group's numbers, scaled to all sets.
//
//     lines of a statement   certain sets   12,000 + groups 16,000 15,200 17,600 16,000
//                            76,800 in all, and 3.2 * sqrt(4 * 1,000,000 * 15/16) = 6,200 either
//                            way

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "model/profile.h"

namespace culprit {

/// How the sets of a run were sampled.
struct SetSampling {
  uint32_t one_of = 1;         // N of 1/N
  uint32_t random_groups = 0;  // of drawn sets
};

/// An estimate is told if it was seen in so many random groups; else they were too few.
inline constexpr uint32_t kFewestGroups = 4;
/// More strata than any run has are of a damaged file.
inline constexpr uint32_t kMostStrata = 64;

/// Half of the 95 % interval of an estimate.
struct SampleError {
  bool is_exact = true;                // all sets were simulated
  std::optional<double> half_width{};  // 0 if exact; none: seen in too few sets
};

/// Of a sum over all sets: `groups` are its parts in the random groups, scaled.
/// Units:  counts -> counts
/// Errors: Student's interval of the mean of the groups, of a sample drawn without replacement; at
///         least that of counts of events each of which is in the sample by itself
/// Source: the method of random groups: K. M. Wolter, Introduction to Variance Estimation (2nd
///         edition, 2007), section 2.4
SampleError estimate_sum_error(std::span<const uint64_t> groups, const SetSampling& sampling);

/// Of sum(above) / sum(below) over all sets, which is `ratio`. `events`: of the random groups, how
/// many things `below` is of, scaled; it is the sum's that is told.
/// Errors: linearized (W. G. Cochran, Sampling Techniques (1977), section 2.11); at least 3 parts
///         in as many things as were seen, since what none of n shows is in less than 3 of n
SampleError estimate_ratio_error(std::span<const uint64_t> above, std::span<const uint64_t> below,
                                 std::span<const uint64_t> events, double ratio, double total_below,
                                 const SetSampling& sampling);

/// "37.2 %" where it is exact, or as good as that, "37±3 %", "37.2 %*" where there were too few
/// sets. `decimals`: of the number, at most; `unit`: " %".
std::string format_estimate(double value, const SampleError& error, int decimals,
                            const char* unit = "");

}  // namespace culprit
