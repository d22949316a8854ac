#include "host/busy_time.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// user 100, nice 10, system 20, idle 1000, iowait 5, irq 3, softirq 7, steal 40, guest 50 (of
// user).
TEST(BusyTime, IsWhatCpusWorkedAndWhatWasStolen) {
  const auto time = parse_busy_time("cpu  100 10 20 1000 5 3 7 40 50 0\ncpu0 1 2 3\n", 100);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->busy_ns, 1'400'000'000u);  // 140 ticks of 10 ms
  EXPECT_EQ(time->stolen_ns, 400'000'000u);
}

TEST(BusyTime, IsUnknownWhereTheTextIsAnother) {
  for (const char* const text :
       {"", "cpu", "cpu 1 2 3", "cpu  1 2 3 x 5 6 7 8", "cpu0 1 2 3 4 5 6 7 8"}) {
    EXPECT_FALSE(parse_busy_time(text, 100)) << text;
  }
  EXPECT_FALSE(parse_busy_time("cpu 1 2 3 4 5 6 7 8", 0));
}

// In two seconds CPUs worked for 3 s, 1 s of which was ours; 0.5 s were stolen.
TEST(BusyTime, OfOthersIsWhatIsNotOurs) {
  const BusyTime before{1'000, 500, 100, 50};
  const BusyTime after{2'000'001'000, 3'000'000'500, 500'000'100, 1'000'000'050};
  const Neighbours others = compute_neighbours(before, after);
  EXPECT_DOUBLE_EQ(others.busy_cpus, 1);
  EXPECT_DOUBLE_EQ(others.stolen_cpus, 0.25);
}

TEST(BusyTime, OfNoTimeIsNothing) {
  EXPECT_EQ(compute_neighbours({5, 9, 9, 0}, {5, 9, 9, 0}).busy_cpus, 0);
}

}  // namespace
}  // namespace culprit
