#include "stats/estimate.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(Estimate, ErrorsOfASumAddInSquares) {
  EXPECT_EQ((Estimate{10, 3} + Estimate{20, 4}), (Estimate{30, 5}));  // 3, 4, 5
}

TEST(Estimate, ScalingScalesTheErrorToo) {
  EXPECT_EQ((Estimate{10, 3} * -2), (Estimate{-20, 6}));
}

TEST(Estimate, RelativeErrorsOfAQuotientAddInSquares) {
  // 3 % and 4 % make 5 %: of 100 / 50 = 2 that is 0.1.
  const Estimate quotient = divide({100, 3}, {50, 2});
  EXPECT_DOUBLE_EQ(quotient.value, 2);
  EXPECT_DOUBLE_EQ(quotient.standard_error, 0.1);
}

TEST(Estimate, AQuotientOfZeroKeepsItsError) {
  EXPECT_EQ(divide({0, 3}, {6, 1}), (Estimate{0, 0.5}));
  EXPECT_EQ(divide({1, 1}, {0, 1}), Estimate{});
}

TEST(Estimate, NormalIntervalIsSymmetrical) {
  // 1.96 x 10 = 19.6
  const Interval interval = normal_interval({100, 10});
  EXPECT_NEAR(interval.low, 80.4, 0.001);
  EXPECT_NEAR(interval.high, 119.6, 0.001);
}

}  // namespace
}  // namespace culprit
