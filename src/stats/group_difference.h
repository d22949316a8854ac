#pragma once

// Whether two groups of repeated measurements differ by more than chance, and for many such
// questions at once, which answers to believe.

#include <optional>
#include <span>
#include <vector>

#include "stats/estimate.h"

namespace culprit {

/// The difference between the means of two groups.
struct GroupDifference {
  double difference = 0;  // second - first
  double standard_error = 0;
  double degrees_of_freedom = 0;
};

/// Welch's: the groups may scatter differently.
/// Units:  those of the values
/// Shape:  nullopt if a group has fewer than two values
/// Errors: standard error and degrees of freedom by B. L. Welch, Biometrika 34 (1947)
std::optional<GroupDifference> estimate_group_difference(std::span<const double> first,
                                                         std::span<const double> second);

/// How likely chance alone makes such a difference; 1 where it is 0, 0 where nothing scatters.
double difference_tail(const GroupDifference& difference);
/// Where the true one is, in 95 % of cases.
Interval difference_interval(const GroupDifference& difference);

/// Adjusted tails of many tests: believing those below q, at most q of what is believed is chance.
/// Shape:  parallel to `tails`
/// Source: Y. Benjamini, Y. Hochberg, Journal of the Royal Statistical Society B 57 (1995)
std::vector<double> adjust_false_discovery(std::span<const double> tails);

}  // namespace culprit
