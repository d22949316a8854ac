#pragma once

// RandomPeriods: how long a clock waits between its samples, drawn anew some times a second.
//
// A clock of a constant period sees a program that works in step with it always at the same place.
// With periods of a wide range each phase of such a program is as likely: the range is that of
// rates between 1/2 and 3/2 of the one asked for. With a narrower one too many periods are near a
// program's own (random_periods_test has a quarter and a sixteenth beside it); with longer times
// between draws a single such period weighs too much. What runs while the rate is high has more
// samples than its share: the more draws, the less.

#include <cstdint>
#include <random>

namespace culprit {

class RandomPeriods {
 public:
  static constexpr double kRange = 0.5;

  explicit RandomPeriods(uint64_t seed, double range = kRange) : range_(range), random_(seed) {}

  /// A period near the one asked for. All rates in the range are as likely, so that the mean rate
  /// is the one asked for.
  uint64_t draw(uint64_t period_ns) {
    std::uniform_real_distribution<double> rates(1 - range_, 1 + range_);
    return static_cast<uint64_t>(static_cast<double>(period_ns) / rates(random_));
  }

 private:
  double range_;
  std::mt19937_64 random_;
};

}  // namespace culprit
