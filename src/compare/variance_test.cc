#include "compare/variance.h"

#include <gtest/gtest.h>

#include "compare/print_comparison.h"
#include "compare/test_rows.h"

namespace culprit {
namespace {

// By hand: 100, 120, 140 samples of 1000 cycles: mean 120,000, deviation 20,000, range 40 of 360;
// of sampling alone the variance is the mean of 100, 120, 140: 120 samples, of the runs 400.
TEST(RunVariance, IsThatOfTheRuns) {
  const RunVariance variance =
      find_variance(sampled_rows({{100, 120, 140}, {50, 50, 50}, {1, 2, 3}}), 20);
  ASSERT_EQ(variance.rows.size(), 2U);
  EXPECT_EQ(variance.rows_left_out, 1U);
  const RowVariance& row = variance.rows[0];
  EXPECT_EQ(row.key, ComparedKey{"0"});
  EXPECT_DOUBLE_EQ(row.mean, 120'000);
  EXPECT_DOUBLE_EQ(row.deviation, 20'000);
  EXPECT_NEAR(row.range_percent, 100.0 * 40 / 360, 1e-9);
  EXPECT_NEAR(row.sum_percent, 100.0 * 360 / 516, 1e-9);
  EXPECT_NEAR(row.excess, 400.0 / 120, 1e-9);
  EXPECT_DOUBLE_EQ(row.smallest, 100'000);
  EXPECT_DOUBLE_EQ(row.largest, 140'000);
  // The total is 151, 172, 193: all but the third row's part goes with this one.
  EXPECT_NEAR(row.explains, 20.0 * 21 / (21 * 21), 1e-9);
  EXPECT_EQ(variance.rows[1].explains, 0);
  EXPECT_EQ(variance.fastest, 0U);
  EXPECT_EQ(variance.slowest, 2U);
}

// The totals are 170, 190, 140: the third run is the fastest, the second the slowest. By hand the
// first row's variance is 900 where sampling makes 100, the second's 33 where it makes 67.
TEST(RunVariance, ExtremesAreOfTheRowsThatVary) {
  const ComparedRows rows = sampled_rows({{100, 130, 70}, {70, 60, 70}});
  const RunVariance variance = find_variance(rows, 20);
  const Difference extremes = compare_extremes(rows, variance);
  ASSERT_EQ(extremes.rows.size(), 1U);
  EXPECT_EQ(extremes.rows[0].key, ComparedKey{"0"});
  EXPECT_EQ(extremes.rows[0].base, 70'000);
  EXPECT_EQ(extremes.rows[0].now, 130'000);
  EXPECT_EQ(extremes.rows[0].verdict, ChangeVerdict::more);
  EXPECT_EQ(extremes.total.base, 140'000);
  EXPECT_EQ(extremes.total.now, 190'000);
  // Of runs that are alike there is nothing to say.
  const ComparedRows alike = sampled_rows({{100, 100}});
  EXPECT_TRUE(compare_extremes(alike, find_variance(alike, 20)).rows.empty());
}

// Totals of 170, 190 and 140 vary as 633 where sampling makes 167; of 200, 202 and 198 as 4, for
// 200.
TEST(RunVariance, ExplainsATotalThatVariesOnly) {
  const auto print = [](const std::vector<std::vector<uint64_t>>& samples) {
    const ComparedRows rows = sampled_rows(samples);
    const RunVariance variance = find_variance(rows, 20);
    return print_variance({rows, {RowLevel::function}}, variance, compare_extremes(rows, variance),
                          Format::text, {});
  };
  const std::string varies = print({{100, 130, 70}, {70, 60, 70}});
  EXPECT_NE(varies.find("explains: share of"), std::string::npos) << varies;
  EXPECT_NE(varies.find(" % "), std::string::npos);
  const std::string steady = print({{100, 130, 70}, {100, 72, 128}});
  EXPECT_EQ(steady.find("explains:"), std::string::npos) << steady;
  EXPECT_NE(steady.find("no row explains its variance"), std::string::npos);
}

TEST(RunVariance, SharesOfTheTotalsVarianceAddUp) {
  std::mt19937 random(5);
  const ComparedRows rows = simulated_program(random, 6, [](size_t, size_t) { return 1.0; });
  double sum = 0;
  for (const RowVariance& row : find_variance(rows, 0).rows) sum += row.explains;
  EXPECT_NEAR(sum, 1, 1e-9);
}

}  // namespace
}  // namespace culprit
