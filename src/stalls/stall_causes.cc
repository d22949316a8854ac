#include "stalls/stall_causes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "stats/estimate.h"

namespace culprit {

CauseBounds bound_causes(double stall, std::span<const double, kStallCauses> most, double chance) {
  CauseBounds bounds;
  if (!(stall > 0)) return bounds;
  double all = 0;
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    bounds.high[cause] = std::clamp(most[cause], 0.0, stall);
    all += bounds.high[cause];
  }
  bounds.unexplained = std::max(0.0, stall - all);
  // Something had a part that is not among the causes, or one of them had more than it can have:
  // all that is known of any is what it had at most.
  if (bounds.unexplained > chance) return bounds;
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    const double others = all - bounds.high[cause];
    bounds.low[cause] = std::clamp(stall - chance - others, 0.0, bounds.high[cause]);
  }
  return bounds;
}

double find_chance(double cycles, uint64_t samples) {
  return samples == 0 ? 0 : kNormal95 * cycles / std::sqrt(static_cast<double>(samples));
}

std::array<size_t, kStallCauses> order_causes(double stall, const CauseCycles& high,
                                              const CauseCycles& likely) {
  const auto likeliness = [&](size_t cause) {
    constexpr double kAlike = 0.001;
    const double share = stall > 0 ? std::round(high[cause] / stall / kAlike) : 0;
    return std::tuple(share, high[cause] > 0 ? likely[cause] : 0);
  };
  std::array<size_t, kStallCauses> order{};
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return likeliness(a) > likeliness(b); });
  return order;
}

}  // namespace culprit
