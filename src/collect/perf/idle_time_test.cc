#include "collect/perf/idle_time.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(IdleTime, IsThatOfTheCpusWanted) {
  const std::vector<CpuTimes> times = {
      {std::nullopt, 300, 960, 0}, {0u, 100, 410, 0}, {1u, 200, 550, 0}};
  const auto all = sum_idle(times, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->cpus, 2u);
  EXPECT_EQ(all->idle_ns, 960u);
  const auto one = sum_idle(times, {1});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->idle_ns, 550u);
  EXPECT_FALSE(sum_idle(times, {7}));
  EXPECT_FALSE(sum_idle({}, {}));
}

TEST(IdleTime, OfASleepIsAtMostAllOfTheTime) {
  const IdleWatch watch({});
  const auto measured = watch.measure();
  ASSERT_TRUE(measured);
  EXPECT_LE(measured->idle_ns, measured->capacity_ns);
}

}  // namespace
}  // namespace culprit
