#include "stats/repeated.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace culprit {
namespace {

TEST(EstimateMean, OneValueHasNoInterval) {
  const std::vector<double> one{7};
  EXPECT_EQ(estimate_mean(one).mean, 7);
  EXPECT_FALSE(estimate_mean(one).interval95.has_value());
}

TEST(EstimateMean, IntervalByHand) {
  // 10, 12, 14: mean 12, deviation 2, error 2 / sqrt 3 = 1.1547, t(2) = 4.3027: +-4.968.
  const std::vector<double> values{10, 12, 14};
  const MeanEstimate mean = estimate_mean(values);
  EXPECT_DOUBLE_EQ(mean.mean, 12);
  ASSERT_TRUE(mean.interval95.has_value());
  EXPECT_NEAR(mean.interval95->low, 12 - 4.968, 0.001);
  EXPECT_NEAR(mean.interval95->high, 12 + 4.968, 0.001);
}

TEST(ScaledCount, IsExactWhenAlwaysCounted) {
  const std::vector<CountedSlice> slices{{100, 10, 10}, {50, 10, 10}};
  const ScaledCount count = estimate_scaled_count(slices);
  EXPECT_EQ(count.value, 150);
  EXPECT_EQ(count.interval95, (Interval{150, 150}));
}

TEST(ScaledCount, NeverCountedIsUnknown) {
  const std::vector<CountedSlice> slices{{0, 10, 0}};
  EXPECT_FALSE(estimate_scaled_count(slices).interval95.has_value());
}

TEST(ScaledCount, OfASteadyRateIsUnsureOfItsEndsOnly) {
  const std::vector<CountedSlice> slices{{50, 10, 5}, {50, 10, 5}, {30, 10, 3}, {70, 10, 7}};
  const ScaledCount count = estimate_scaled_count(slices);
  EXPECT_DOUBLE_EQ(count.value, 400);  // 10 per unit of time, 40 units
  ASSERT_TRUE(count.interval95.has_value());
  // 5 of the first 10 were not seen, and 3 of the last: 10 * sqrt(25 + 9) = 58.31.
  EXPECT_NEAR(count.interval95->low, 400 - 58.31, 0.01);
  EXPECT_NEAR(count.interval95->high, 400 + 58.31, 0.01);
}

TEST(ScaledCount, IntervalsHoldTheTruthAboutAsOftenAsTheySay) {
  // 40 slices of random rates, a random third to two thirds of each counted, 2,000 times:
  // 95 % = 1,900; binomial error 10. Ratio estimates of 40 slices are a little optimistic.
  std::mt19937_64 random(4711);
  std::uniform_real_distribution<double> rate(50, 150);
  std::uniform_real_distribution<double> share(0.33, 0.67);
  int held = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<CountedSlice> slices;
    double truth = 0;
    for (int i = 0; i < 40; ++i) {
      // Within a slice the rate changes once: what is counted is not the same as the rest.
      const double seen = share(random);
      const double first = rate(random);
      const double second = rate(random);
      truth += first * seen + second * (1 - seen);
      slices.push_back({first * seen, 1, seen});
    }
    const ScaledCount count = estimate_scaled_count(slices);
    held += count.interval95->low <= truth && truth <= count.interval95->high ? 1 : 0;
  }
  EXPECT_GE(held, 1840);
}

}  // namespace
}  // namespace culprit
