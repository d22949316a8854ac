#include "stats/repeated.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stats/student.h"

namespace culprit {

MeanEstimate estimate_mean(std::span<const double> values) {
  MeanEstimate estimate;
  if (values.empty()) return estimate;
  const double n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  estimate.mean = sum / n;
  if (values.size() < 2) return estimate;
  double squares = 0;
  for (const double value : values) squares += (value - estimate.mean) * (value - estimate.mean);
  const double half = student_quantile95(n - 1) * std::sqrt(squares / (n - 1) / n);
  estimate.interval95 = Interval{estimate.mean - half, estimate.mean + half};
  return estimate;
}

ScaledCount estimate_scaled_count(std::span<const CountedSlice> slices) {
  double value = 0;
  double enabled = 0;
  double running = 0;
  std::vector<CountedSlice> counted;
  for (const CountedSlice& slice : slices) {
    value += slice.value;
    enabled += slice.enabled;
    running += slice.running;
    if (slice.running > 0) counted.push_back(slice);
  }
  ScaledCount scaled;
  if (running <= 0) return scaled;
  // In long double, so that a number that somebody else has scaled so comes back exactly.
  scaled.value = static_cast<double>(static_cast<long double>(value) * enabled / running);
  if (running >= enabled) {
    scaled.interval95 = Interval{scaled.value, scaled.value};
    return scaled;
  }
  if (counted.size() < 3) return scaled;
  const double n = static_cast<double>(counted.size());
  const double rate = value / running;
  double squares = 0;
  for (const CountedSlice& slice : counted) {
    const double residual = slice.value - rate * slice.running;
    squares += residual * residual;
  }
  // The part that was counted is known: only the rest is uncertain.
  const double unseen = 1 - running / enabled;
  const double rate_error = std::sqrt(unseen * squares / (n - 1) / n) / (running / n);
  const double chance = student_quantile95(n - 1) * rate_error * enabled;
  // Programs start and end unlike they run: what was not seen there is no random sample.
  const auto unseen_time = [](const CountedSlice& slice) { return slice.enabled - slice.running; };
  const double edges = rate * std::hypot(unseen_time(slices.front()), unseen_time(slices.back()));
  const double half = std::hypot(chance, edges);
  scaled.interval95 = Interval{std::max(value, scaled.value - half), scaled.value + half};
  return scaled;
}

}  // namespace culprit
