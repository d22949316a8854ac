#include "stats/robust.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace culprit {
namespace {

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const std::vector<double> values = {4, 1, 3, 2};
  // R's quantile(1:4, c(0, .25, .5, 1)) gives 1, 1.75, 2.5, 4.
  EXPECT_DOUBLE_EQ(compute_quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(compute_quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(compute_median(values), 2.5);
  EXPECT_DOUBLE_EQ(compute_quantile(values, 1), 4);
}

TEST(Quantile, OfOneAndOfNone) {
  EXPECT_EQ(compute_median({}), 0);
  EXPECT_EQ(compute_quantile(std::vector<double>{7}, 0.9), 7);
}

TEST(Deviation, IsNotMovedByAnOutlier) {
  // The median is 2, the distances 1, 1, 0, 0, 2, 4, 7, their median 1.
  const std::vector<double> values = {1, 1, 2, 2, 4, 6, 9};
  EXPECT_NEAR(estimate_deviation(values), 1.4826, 0.0001);
  const std::vector<double> wild = {1, 1, 2, 2, 4, 6, 9e9};
  EXPECT_EQ(estimate_deviation(wild), estimate_deviation(values));
}

TEST(Deviation, EstimatesTheOneOfNormalValues) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(100, 15);
  std::vector<double> values(20'000);
  for (double& value : values) value = normal(random);
  EXPECT_NEAR(estimate_deviation(values), 15, 0.4);  // its own error is 1.17 x 15 / sqrt(n)
}

// Ranks as in M. J. Campbell and M. J. Gardner, Calculating confidence intervals for some
// non-parametric analyses, BMJ 296 (1988), and computed from the binomial distribution:
//   python3 -c "from math import comb; ..." sum of comb(n, k) / 2**n up to 0.025
TEST(MedianInterval, UsesThePublishedRanks) {
  struct Row {
    size_t n, low_rank, high_rank;
  };
  for (const Row& row : {Row{6, 1, 6}, Row{8, 1, 8}, Row{9, 2, 8}, Row{10, 2, 9}, Row{17, 5, 13},
                         Row{25, 8, 18}, Row{50, 18, 33}, Row{100, 40, 61}}) {
    std::vector<double> ranks(row.n);
    std::iota(ranks.rbegin(), ranks.rend(), 1);
    const Interval interval = median_interval(ranks);
    EXPECT_EQ(interval, (Interval{double(row.low_rank), double(row.high_rank)})) << row.n;
  }
}

TEST(MedianInterval, OfFewValuesIsTheirRange) {
  EXPECT_EQ(median_interval(std::vector<double>{3, 1, 2}), (Interval{1, 3}));
  EXPECT_EQ(median_interval(std::vector<double>{3}), (Interval{3, 3}));
  EXPECT_EQ(median_interval({}), Interval{});
}

TEST(MedianInterval, WorksForMillions) {
  std::vector<double> ranks(1'000'000);
  std::iota(ranks.begin(), ranks.end(), 0);
  // Half the width is 1.96 sqrt(n) / 2 = 980 ranks.
  const Interval interval = median_interval(ranks);
  EXPECT_NEAR(interval.high - interval.low, 2 * 980, 4);
}

}  // namespace
}  // namespace culprit
