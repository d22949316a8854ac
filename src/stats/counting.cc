#include "stats/counting.h"

#include <algorithm>
#include <cmath>

namespace culprit {

Estimate estimate_count(uint64_t events) {
  const double count = static_cast<double>(events);
  return {count, std::sqrt(count)};
}

namespace {

/// Quantile of the gamma distribution of this shape, at the normal quantile `z`.
double gamma_quantile(double shape, double z) {
  if (shape == 0) return 0;
  const double cube_root = 1 - 1 / (9 * shape) + z / (3 * std::sqrt(shape));
  return cube_root <= 0 ? 0 : shape * cube_root * cube_root * cube_root;
}

}  // namespace

Interval poisson_interval(uint64_t events) {
  const double count = static_cast<double>(events);
  return {gamma_quantile(count, -kNormal95), gamma_quantile(count + 1, kNormal95)};
}

double ShareEstimate::half_width() const {
  return std::max(share - interval95.low, interval95.high - share);
}

ShareEstimate estimate_share(uint64_t samples, uint64_t total_samples) {
  if (total_samples == 0) return {0, 1, {0, 1}};
  const double n = static_cast<double>(total_samples);
  const double p = std::min(1.0, static_cast<double>(samples) / n);
  constexpr double kSquare = kNormal95 * kNormal95;
  const double centre = (p + kSquare / (2 * n)) / (1 + kSquare / n);
  const double half =
      kNormal95 / (1 + kSquare / n) * std::sqrt(p * (1 - p) / n + kSquare / (4 * n * n));
  // At 0 and 1 the limits are 0 and 1; rounding must not put the share outside.
  return {p,
          std::sqrt(p * (1 - p) / n),
          {std::clamp(centre - half, 0.0, p), std::clamp(centre + half, p, 1.0)}};
}

}  // namespace culprit
