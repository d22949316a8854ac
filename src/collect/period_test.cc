#include "collect/period.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// Primes from `factor` (coreutils): factor 1001003 → itself; 1000000000/4999 = 200040.008 →
// 200041 is the next prime; `factor 1000003` → itself.
TEST(PeriodForFrequency, IsTheNextPrime) {
  EXPECT_EQ(period_for_frequency_ns(999), 1'001'003u);
  EXPECT_EQ(period_for_frequency_ns(1000), 1'000'003u);
  EXPECT_EQ(period_for_frequency_ns(4999), 200'041u);
}

TEST(PeriodForFrequency, EndsForEveryFrequency) {
  EXPECT_EQ(period_for_frequency_ns(1), 1'000'000'007u);
  EXPECT_EQ(period_for_frequency_ns(1e9), 2u);
}

}  // namespace
}  // namespace culprit
