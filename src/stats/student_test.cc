#include "stats/student.h"

#include <cmath>
#include <gtest/gtest.h>

namespace culprit {
namespace {

// Tables of Student's t, two-sided: Abramowitz and Stegun, table 26.10.
TEST(StudentTail, IsThatOfTheTables) {
  EXPECT_NEAR(student_tail(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_tail(2.571, 5), 0.05, 1e-4);
  EXPECT_NEAR(student_tail(3.169, 10), 0.01, 1e-5);
  EXPECT_NEAR(student_tail(1.980, 120), 0.05, 1e-4);
  EXPECT_NEAR(student_tail(-2.571, 5), 0.05, 1e-4);
  EXPECT_DOUBLE_EQ(student_tail(0, 7), 1);
}

// One degree of freedom is Cauchy's distribution: 1 - 2 atan(t) / pi. Two: 1 - t / sqrt(2 + t^2).
TEST(StudentTail, IsExactWhereThereIsAFormula) {
  for (const double t : {0.01, 0.5, 1.0, 3.0, 50.0, 1e5}) {
    EXPECT_NEAR(student_tail(t, 1), 1 - 2 * std::atan(t) / M_PI, 1e-10) << t;
    EXPECT_NEAR(student_tail(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-10) << t;
  }
}

TEST(StudentQuantile, AgreesWithTheTables) {
  // Abramowitz and Stegun, table 26.10, 0.975.
  EXPECT_NEAR(student_quantile95(1), 12.706, 0.001);
  EXPECT_NEAR(student_quantile95(4), 2.776, 0.001);
  EXPECT_NEAR(student_quantile95(12), 2.179, 0.002);
  EXPECT_NEAR(student_quantile95(20), 2.086, 0.002);
  EXPECT_NEAR(student_quantile95(60), 2.000, 0.002);
  EXPECT_NEAR(student_quantile95(1'000'000), 1.960, 0.001);
}

TEST(StudentQuantile, IsWhereTheTailIsFivePercent) {
  for (const double degrees : {0.5, 1.0, 2.7, 9.0, 33.3, 1e4}) {
    EXPECT_NEAR(student_tail(student_quantile95(degrees), degrees), 0.05, 1e-8) << degrees;
  }
  EXPECT_TRUE(std::isinf(student_quantile95(0)));
}

TEST(DegreesOfSum, AreThoseOfSoManyEqualTerms) {
  EXPECT_DOUBLE_EQ(degrees_of_sum(10 * 3.0, 10 * 9.0), 9);  // by hand: 30 x 30 / 90 - 1
  EXPECT_DOUBLE_EQ(degrees_of_sum(2 * 5.0, 2 * 25.0), 1);   // one spike, beside its neighbours
  EXPECT_DOUBLE_EQ(degrees_of_sum(7, 49), 1);
}

}  // namespace
}  // namespace culprit
