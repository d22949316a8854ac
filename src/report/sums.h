#pragma once

// The values of a report, made of exact sums.

#include <cmath>
#include <span>
#include <vector>

#include "model/profile.h"
#include "model/sums.h"
#include "report/report.h"

namespace culprit {

inline Value to_value(const Event& event, const Sum& sum) {
  return {sum.samples, static_cast<double>(sum.value) * event.scale,
          std::sqrt(sum.variance) * event.scale};
}

inline std::vector<Value> to_values(const std::vector<Event>& events, std::span<const Sum> sums) {
  std::vector<Value> values;
  values.reserve(events.size());
  for (size_t event = 0; event < events.size(); ++event) {
    values.push_back(to_value(events[event], sums[event]));
  }
  return values;
}

}  // namespace culprit
