#include "collect/stream/off_cpu.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

constexpr EventId kWaiting(1u);
constexpr EventId kPreempted(2u);

PlacedSample left_at(uint64_t time_ns) {
  PlacedSample place;
  place.time_ns = time_ns;
  return place;
}

TEST(OffCpuTime, IsFromLeavingToEntering) {
  OffCpuTime time({kWaiting, kPreempted});
  time.leave(7, left_at(1000));
  time.confirm(7, false);
  time.leave(8, left_at(1100));  // another task, meanwhile
  time.confirm(8, true);
  const std::optional<PlacedSample> slept = time.enter(7, 4500);
  ASSERT_TRUE(slept);
  EXPECT_EQ(slept->event, kWaiting);
  EXPECT_EQ(slept->samples, 1u);
  EXPECT_EQ(slept->value, 3500u);
  const std::optional<PlacedSample> preempted = time.enter(8, 1150);
  ASSERT_TRUE(preempted);
  EXPECT_EQ(preempted->event, kPreempted);
  EXPECT_EQ(preempted->value, 50u);
}

TEST(OffCpuTime, IsNotOfTasksThatNobodySawLeave) {
  OffCpuTime time({kWaiting, kPreempted});
  EXPECT_FALSE(time.enter(7, 100));
  time.confirm(7, false);
  EXPECT_FALSE(time.enter(7, 200));
}

TEST(OffCpuTime, EndsNeitherLaterThanTheRecordingNorBeforeItBegan) {
  OffCpuTime time({kWaiting, kPreempted});
  time.leave(7, left_at(1000));
  const std::vector<PlacedSample> ended = time.end(1600);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].value, 600u);
  EXPECT_TRUE(time.end(1700).empty());
  time.leave(7, left_at(2000));
  EXPECT_EQ(time.enter(7, 1990)->value, 0u);  // clocks of two CPUs, apart by a little
}

TEST(OffCpuTime, OfTasksThatExitIsNoWait) {
  OffCpuTime time({kWaiting, kPreempted});
  time.mark_exited(7);
  time.leave(7, left_at(1000));
  EXPECT_TRUE(time.end(9000).empty());
  time.begin(7);  // its number again
  time.leave(7, left_at(2000));
  EXPECT_EQ(time.end(2500).size(), 1u);
}

TEST(OffCpuTime, KnowsWhatIsLost) {
  OffCpuTime time({kWaiting, kPreempted});
  time.leave(7, left_at(1000));
  time.leave(7, left_at(5000));  // it was back in between
  EXPECT_EQ(time.lost_ends(), 1u);
  EXPECT_EQ(time.enter(7, 5100)->value, 100u);
}

}  // namespace
}  // namespace culprit
