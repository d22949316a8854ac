#include "stalls/stall_causes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace culprit {

CauseBounds bound_causes(double stall, std::span<const double, kStallCauses> most) {
  CauseBounds bounds;
  if (!(stall > 0)) return bounds;
  double all = 0;
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    bounds.high[cause] = std::clamp(most[cause], 0.0, stall);
    all += bounds.high[cause];
  }
  for (size_t cause = 0; cause < kStallCauses; ++cause) {
    const double others = all - bounds.high[cause];
    bounds.low[cause] = std::clamp(stall - others, 0.0, bounds.high[cause]);
  }
  bounds.unexplained = std::max(0.0, stall - all);
  return bounds;
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
