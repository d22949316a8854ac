#include "stats/group_difference.h"

#include <gtest/gtest.h>
#include <random>

namespace culprit {
namespace {

// W. S. Gosset's sleep data (Biometrika 6, 1908), as R's t.test(extra ~ group, data = sleep) has
// them: t = -1.8608, df = 17.776, p = 0.07939, interval -3.3654832 to 0.2054832 (group 1 - 2).
TEST(GroupDifference, IsWelchs) {
  const double first[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const double second[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const auto found = estimate_group_difference(first, second);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->difference, 1.58, 1e-9);
  EXPECT_NEAR(found->difference / found->standard_error, 1.8608, 1e-4);
  EXPECT_NEAR(found->degrees_of_freedom, 17.776, 1e-3);
  EXPECT_NEAR(difference_tail(*found), 0.07939, 1e-5);
  EXPECT_NEAR(difference_interval(*found).low, -0.2054832, 1e-6);
  EXPECT_NEAR(difference_interval(*found).high, 3.3654832, 1e-6);
}

TEST(GroupDifference, NeedsTwoOfEach) {
  const double one[] = {1};
  const double two[] = {1, 2};
  EXPECT_FALSE(estimate_group_difference(one, two));
  EXPECT_FALSE(estimate_group_difference(two, {}));
}

TEST(GroupDifference, OfWhatDoesNotScatterIsCertain) {
  const double a[] = {3, 3};
  const double b[] = {4, 4};
  EXPECT_EQ(difference_tail(*estimate_group_difference(a, b)), 0);
  EXPECT_EQ(difference_tail(*estimate_group_difference(a, a)), 1);
}

// The fifteen tails of the authors' example (table 1): four are believed at 0.05.
TEST(FalseDiscovery, IsThatOfTheAuthorsExample) {
  const std::vector<double> tails = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                     0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> adjusted = adjust_false_discovery(tails);
  size_t believed = 0;
  for (const double tail : adjusted) believed += tail <= 0.05 ? 1 : 0;
  EXPECT_EQ(believed, 4U);
  EXPECT_NEAR(adjusted[0], 0.0015, 1e-12);           // 0.0001 x 15 / 1
  EXPECT_NEAR(adjusted[5], 0.0298 * 15 / 7, 1e-12);  // held down by the seventh
  EXPECT_TRUE(adjust_false_discovery({}).empty());
}

TEST(GroupDifference, TailsOfNoDifferenceAreUniform) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(10, 2);
  int below = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    double a[4], b[3];
    for (double& value : a) value = noise(random);
    for (double& value : b) value = noise(random);
    below += difference_tail(*estimate_group_difference(a, b)) < 0.05 ? 1 : 0;
  }
  // Welch's test of so few is a little on the safe side; binomial deviation 0.0035.
  EXPECT_NEAR(static_cast<double>(below) / kTrials, 0.05, 0.014);
}

}  // namespace
}  // namespace culprit
