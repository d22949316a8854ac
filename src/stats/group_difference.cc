#include "stats/group_difference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/student.h"

namespace culprit {
namespace {

struct Moments {
  double mean = 0;
  double variance_of_mean = 0;
};

Moments moments_of(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (n - 1) / n};
}

}  // namespace

std::optional<GroupDifference> estimate_group_difference(std::span<const double> first,
                                                         std::span<const double> second) {
  if (first.size() < 2 || second.size() < 2) return std::nullopt;
  const Moments a = moments_of(first);
  const Moments b = moments_of(second);
  const double variance = a.variance_of_mean + b.variance_of_mean;
  const double weighted =
      a.variance_of_mean * a.variance_of_mean / static_cast<double>(first.size() - 1) +
      b.variance_of_mean * b.variance_of_mean / static_cast<double>(second.size() - 1);
  const double all = static_cast<double>(first.size() + second.size() - 2);
  return GroupDifference{b.mean - a.mean, std::sqrt(variance),
                         weighted > 0 ? variance * variance / weighted : all};
}

double difference_tail(const GroupDifference& difference) {
  if (difference.difference == 0) return 1;
  if (!(difference.standard_error > 0)) return 0;
  return student_tail(difference.difference / difference.standard_error,
                      difference.degrees_of_freedom);
}

Interval difference_interval(const GroupDifference& difference) {
  const double half =
      difference.standard_error > 0
          ? student_quantile95(difference.degrees_of_freedom) * difference.standard_error
          : 0;
  return {difference.difference - half, difference.difference + half};
}

std::vector<double> adjust_false_discovery(std::span<const double> tails) {
  std::vector<size_t> order(tails.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tails[a] > tails[b]; });
  std::vector<double> adjusted(tails.size());
  double least = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const double rank = static_cast<double>(order.size() - i);
    least = std::min(least, tails[order[i]] * static_cast<double>(order.size()) / rank);
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace culprit
