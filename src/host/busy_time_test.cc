#include "host/busy_time.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

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
