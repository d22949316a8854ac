#include "collect/perf/idle_time.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// Fields as proc(5) has them, in ticks of 10 ms: user nice system idle iowait irq softirq steal.
constexpr const char* kStat =
    "cpu  300 0 100 900 60 0 0 5 0 0\n"
    "cpu0 100 0 50 400 10 0 0 5 0 0\n"
    "cpu1 200 0 50 500 50 0 0 0 0 0\n"
    "intr 1 2 3 4 5 6 7\n";

TEST(IdleTime, IsIdleAndWaitingOfTheCpusWanted) {
  const auto all = parse_idle(kStat, {}, 100);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->cpus, 2u);
  EXPECT_EQ(all->idle_ns, (400u + 10 + 500 + 50) * uint64_t{10'000'000});
  const auto one = parse_idle(kStat, {1}, 100);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->idle_ns, 550 * uint64_t{10'000'000});
}

TEST(IdleTime, IsUnknownWhereTheKernelDoesNotTell) {
  EXPECT_FALSE(parse_idle("", {}, 100));
  EXPECT_FALSE(parse_idle(kStat, {7}, 100));
  EXPECT_FALSE(parse_idle("cpu0 1 2 3\n", {}, 100));
  EXPECT_FALSE(parse_idle("cpu0 1 2 3 99999999999999999999 5 6\n", {}, 100));
  EXPECT_FALSE(parse_idle("cpu0 1 2 3 18446744073709551615 5 6\n", {}, 100));
}

TEST(IdleTime, OfASleepIsAtMostAllOfTheTime) {
  const IdleWatch watch({});
  const auto measured = watch.measure();
  ASSERT_TRUE(measured);
  EXPECT_LE(measured->idle_ns, measured->capacity_ns);
}

}  // namespace
}  // namespace culprit
