#include "stats/counting.h"

#include <gtest/gtest.h>
#include <random>

namespace culprit {
namespace {

// Published values: R. G. Newcombe, Two-sided confidence intervals for the single
// proportion, Statistics in Medicine 17 (1998), table I, method 3 (score, no correction).
TEST(Share, WilsonIntervalAgreesWithPublishedValues) {
  struct Row {
    uint64_t samples, total;
    double low, high;
  };
  for (const Row& row : {Row{81, 263, 0.2553, 0.3662}, Row{15, 148, 0.0624, 0.1605},
                         Row{0, 20, 0.0000, 0.1611}, Row{1, 29, 0.0061, 0.1718}}) {
    const ShareEstimate share = estimate_share(row.samples, row.total);
    EXPECT_NEAR(share.interval95.low, row.low, 0.00005);
    EXPECT_NEAR(share.interval95.high, row.high, 0.00005);
  }
}

TEST(Share, StandardErrorIsThatOfABinomial) {
  // sqrt(0.2 x 0.8 / 400) = 0.02
  const ShareEstimate share = estimate_share(80, 400);
  EXPECT_DOUBLE_EQ(share.share, 0.2);
  EXPECT_DOUBLE_EQ(share.standard_error, 0.02);
}

TEST(Share, StaysWithinZeroAndOne) {
  for (const uint64_t total : {1u, 2u, 20u, 1'000'000u}) {
    EXPECT_EQ(estimate_share(0, total).interval95.low, 0);
    EXPECT_EQ(estimate_share(total, total).interval95.high, 1);
  }
  EXPECT_EQ(estimate_share(0, 0).interval95, (Interval{0, 1}));
}

TEST(Share, HalfWidthHoldsTheWholeInterval) {
  const ShareEstimate share = estimate_share(1, 29);  // 0.0345 in [0.0061, 0.1718]
  EXPECT_NEAR(share.half_width(), 0.1718 - 1.0 / 29, 0.0001);
}

TEST(Share, IntervalHoldsTheTruthAsOftenAsItSays) {
  std::mt19937 random(1);
  for (const double truth : {0.02, 0.3, 0.5}) {
    std::binomial_distribution<uint64_t> samples(500, truth);
    int held = 0;
    for (int round = 0; round < 4000; ++round) {
      const Interval interval = estimate_share(samples(random), 500).interval95;
      if (interval.low <= truth && truth <= interval.high) ++held;
    }
    EXPECT_NEAR(held / 4000.0, 0.95, 0.02);  // 0.0034 is the error of the simulation
  }
}

TEST(Count, StandardErrorIsTheSquareRoot) {
  EXPECT_EQ(estimate_count(400), (Estimate{400, 20}));
}

// Exact limits: Garwood (1936), as tabulated in many places, for example E. L. Crow and
// R. S. Gardner, Biometrika 46 (1959).
TEST(Count, PoissonIntervalAgreesWithPublishedValues) {
  struct Row {
    uint64_t events;
    double low, high;
  };
  for (const Row& row :
       {Row{0, 0, 3.689}, Row{1, 0.0253, 5.572}, Row{2, 0.2422, 7.225}, Row{5, 1.623, 11.668},
        Row{10, 4.795, 18.390}, Row{20, 12.217, 30.888}, Row{100, 81.36, 121.63}}) {
    EXPECT_NEAR(poisson_interval(row.events).low, row.low, 0.1) << row.events;
    EXPECT_NEAR(poisson_interval(row.events).high, row.high, 0.1) << row.events;
  }
}

}  // namespace
}  // namespace culprit
