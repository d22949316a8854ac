#pragma once

// Exact sums of counts, as integers: what a report or an export adds up.

#include <cstdint>
#include <span>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// Integers, as the profile stores them: parts add up to the whole exactly.
struct Sum {
  uint64_t samples = 0;
  uint64_t value = 0;
  double variance = 0;  // of value

  Sum& operator+=(const Sum& other) {
    samples += other.samples;
    value += other.value;
    variance += other.variance;
    return *this;
  }
  [[nodiscard]] bool empty() const { return samples == 0 && value == 0; }
};

/// One sum for each event, parallel to Profile::events.
using Sums = std::vector<Sum>;

inline void add_sums(std::span<Sum> to, std::span<const Sum> from) {
  for (size_t event = 0; event < to.size(); ++event) to[event] += from[event];
}

/// One entry of a column. Without a variance of its own a sampled value has that of a
/// Poisson count of its samples, each worth the same.
inline Sum make_sum(const Event& event, uint64_t samples, uint64_t value, double variance) {
  Sum sum{samples, value, variance};
  if (event.provenance != Provenance::sampled || variance > 0) return sum;
  const double of_value = static_cast<double>(value);
  sum.variance = samples == 0 ? 0 : of_value * of_value / static_cast<double>(samples);
  return sum;
}

}  // namespace culprit
