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

// By hand: primes are 2, 3, 5, 7, 11; 2,000,003 follows 2,000,000.
TEST(Period, IsTheNextPrime) {
  EXPECT_EQ(find_prime_period(0), 2u);
  EXPECT_EQ(find_prime_period(8), 11u);
  EXPECT_EQ(find_prime_period(2'000'000), 2'000'003u);
  EXPECT_EQ(find_prime_period(uint64_t{1} << 62), uint64_t{1} << 62);
}

}  // namespace
}  // namespace culprit
