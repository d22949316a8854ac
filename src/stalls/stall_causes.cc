#include "stalls/stall_causes.h"

#include <algorithm>

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

}  // namespace culprit
