#include "host/cpu_times.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// proc(5), in ticks of 10 ms: user nice system idle iowait irq softirq steal guest (of user).
constexpr const char* kStat =
    "cpu  300 10 100 900 60 3 7 45 50 0\n"
    "cpu0 100 10 50 400 10 3 0 5 0 0\n"
    "cpu3 200 0 50 500 50 0 7 40 50 0\n"
    "intr 1 2 3 4 5 6 7\n";

TEST(CpuTimes, AreThoseOfAllAndThoseOfEach) {
  const auto all = parse_cpu_times(kStat, 100);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_FALSE(all->at(0).cpu);
  EXPECT_EQ(all->at(0).busy_ns, 4'200'000'000u);  // 420 ticks
  EXPECT_EQ(all->at(0).idle_ns, 9'600'000'000u);
  EXPECT_EQ(all->at(0).stolen_ns, 450'000'000u);
  EXPECT_EQ(all->at(2).cpu, 3u);
  EXPECT_EQ(all->at(2).busy_ns, 2'570'000'000u);
  EXPECT_EQ(all->at(2).idle_ns, 5'500'000'000u);
}

TEST(CpuTimes, AreUnknownWhereTheTextIsAnother) {
  for (const char* const text :
       {"", "cpu", "cpu 1 2 3", "cpu  1 2 3 x 5 6 7 8", "cpu0 1 2 3 4 5 6 7 8",
        "cpu 1 2 3 4 5 6 7 8\ncpu0 1 2 3\n", "cpu 1 2 3 4 5 6 7 8\ncpu 1 2 3 4 5 6 7 8\n",
        "cpu 1 2 3 99999999999999999999 5 6 7 8\n", "cpu 1 2 3 18446744073709551615 5 6 7 8\n",
        "cpux 1 2 3 4 5 6 7 8\n"}) {
    EXPECT_FALSE(parse_cpu_times(text, 100)) << text;
  }
  EXPECT_FALSE(parse_cpu_times(kStat, 0));
  EXPECT_FALSE(parse_cpu_times(kStat, -1));
}

TEST(CpuTimes, OfThisMachineAreThere) {
  const auto all = read_cpu_times();
  ASSERT_TRUE(all);
  EXPECT_GE(all->size(), 2u);
}

}  // namespace
}  // namespace culprit
