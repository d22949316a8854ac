#pragma once

// The values that answers are made of: exact sums, and what is computed from them.

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/profile.h"
#include "model/sums.h"
#include "stats/estimate.h"

namespace culprit {

/// One value: samples, their sum in the event's unit, and its standard error (sampled
/// events: by Poisson counts, or as the collector gave it; 0 where nothing was sampled).
struct Value {
  uint64_t samples = 0;
  double value = 0;
  double error = 0;
};

/// A column that is not a sum: computed anew for each row, and for the lines that sum rows up,
/// from the values of all events there.
struct DerivedColumn {
  enum class Form : uint8_t { ratio, percent, share, amount };  // 279, 1.20 %, 1.2 %, 3.35 G

  std::string name;     // for programs: "instructions_per_call"
  std::string heading;  // for people: "instr/call"
  Form form = Form::ratio;
  std::function<std::optional<Estimate>(const std::vector<Value>&)> compute;  // none: unknown
  std::optional<Provenance> provenance = {};  // its mark in text; none: the first event's
};

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
