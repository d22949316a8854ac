#include "stats/robust.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace culprit {

namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double quantile_of_sorted(const std::vector<double>& values, double p) {
  if (values.empty()) return 0;
  const double position = std::clamp(p, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  return std::lerp(values[below], values[below + 1], position - static_cast<double>(below));
}

/// How many values may be cut off at each end so that the rest still holds the median with
/// 95 %: the largest k with P(Binomial(n, 1/2) < k) <= 2.5 %.
size_t values_outside(size_t n) {
  double log_term = -static_cast<double>(n) * std::log(2.0);  // of P(= 0)
  double below = 0;
  for (size_t k = 0; k < n; ++k) {
    below += std::exp(log_term);
    if (below > 0.025) return k;
    log_term += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
  }
  return 0;
}

}  // namespace

double compute_quantile(std::span<const double> values, double p) {
  return quantile_of_sorted(sorted(values), p);
}

double compute_median(std::span<const double> values) {
  return compute_quantile(values, 0.5);
}

double estimate_deviation(std::span<const double> values) {
  const double median = compute_median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::fabs(value - median));
  return kNormalConsistency * compute_median(distances);
}

Interval median_interval(std::span<const double> values) {
  const std::vector<double> ordered = sorted(values);
  if (ordered.empty()) return {};
  const size_t outside = values_outside(ordered.size());
  // The ranks k and n - k + 1, counted from 1; with k = 0 there is nothing to cut off.
  const size_t low = outside == 0 ? 0 : outside - 1;
  return {ordered[low], ordered[ordered.size() - 1 - low]};
}

}  // namespace culprit
