#include "host/clock.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <time.h>
#include <vector>

namespace culprit {
namespace {

TEST(ClockEstimate, IsAbsentWithoutBursts) {
  EXPECT_FALSE(estimate_clock({}).has_value());
  EXPECT_FALSE(estimate_clock({0, -1}).has_value()) << "failed bursts are not measurements";
}

TEST(ClockEstimate, OfFewBurstsIsTheirMedianAndRange) {
  const auto clock = estimate_clock({3.6e9, 3.4e9, 3.5e9});
  ASSERT_TRUE(clock.has_value());
  EXPECT_EQ(clock->hertz, 3.5e9);
  EXPECT_EQ(clock->low_hertz, 3.4e9);
  EXPECT_EQ(clock->high_hertz, 3.6e9);
  EXPECT_EQ(clock->bursts, 3U);
}

// 25 values: k = floor(12.5 - 0.98 * 5) = 7, so the 7th and the 19th value;
// P(7th < median < 19th) = 1 - 2 P(Binomial(25, 1/2) <= 6) = 0.9854 (the next
// narrower, 8th to 18th, has 0.9567; tables of the binomial distribution).
TEST(ClockEstimate, IntervalComesFromOrderStatistics) {
  std::vector<double> bursts;
  for (int i = 25; i >= 1; --i) bursts.push_back(i * 1e8);
  const auto clock = estimate_clock(bursts);
  ASSERT_TRUE(clock.has_value());
  EXPECT_EQ(clock->hertz, 13e8);
  EXPECT_EQ(clock->low_hertz, 7e8);
  EXPECT_EQ(clock->high_hertz, 19e8);
}

TEST(ClockEstimate, ADozenDisturbedBurstsDoNotMoveTheMedianOfHundred) {
  std::vector<double> bursts(88, 3.6e9);
  bursts.insert(bursts.end(), 12, 1.2e9);
  const auto clock = estimate_clock(bursts);
  ASSERT_TRUE(clock.has_value());
  EXPECT_EQ(clock->hertz, 3.6e9);
  EXPECT_DOUBLE_EQ(clock->low_hertz, 3.6e9 * 0.999);  // what a burst can resolve
  EXPECT_DOUBLE_EQ(clock->high_hertz, 3.6e9 * 1.001);
}

// A second way to the clock: multiplications in a chain take 3 cycles each on every
// x86-64 core since 2008 and on the Arm cores of that time (uops.info, IMUL r64, r64).
#if defined(__x86_64__)
TEST(ClockBurst, AgreesWithAChainOfMultiplications) {
  constexpr int kBlocks = 5000;
  double best_ns = 1e18;
  for (int tries = 0; tries < 50; ++tries) {
    timespec start{};
    timespec end{};
    uint64_t value = 3;
    clock_gettime(CLOCK_MONOTONIC_RAW, &start);
    for (int i = 0; i < kBlocks; ++i) {
      asm volatile(
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0\n\t"
          "imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
          : "+r"(value)
          :
          : "cc");
    }
    clock_gettime(CLOCK_MONOTONIC_RAW, &end);
    const double ns = static_cast<double>(end.tv_sec - start.tv_sec) * 1e9 +
                      static_cast<double>(end.tv_nsec - start.tv_nsec);
    best_ns = std::min(best_ns, ns);
  }
  const double by_products = kBlocks * 8 * 3 / best_ns * 1e9;
  double by_sums = 0;
  for (int i = 0; i < 10; ++i) by_sums = std::max(by_sums, measure_clock_burst());
  EXPECT_NEAR(by_sums / by_products, 1, 0.03) << by_sums << " Hz against " << by_products;
}
#endif

TEST(ClockBurst, TakesLessThanAMillisecondOfCpuTime) {
  timespec start{};
  timespec end{};
  double spent_ns = 1e18;
  for (int i = 0; i < 5; ++i) {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    EXPECT_GT(measure_clock_burst(), 0.1e9);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    spent_ns = std::min(spent_ns, static_cast<double>(end.tv_sec - start.tv_sec) * 1e9 +
                                      static_cast<double>(end.tv_nsec - start.tv_nsec));
  }
  EXPECT_LT(spent_ns, 1e6);
}

}  // namespace
}  // namespace culprit
