#include "collect/count/count_slices.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(CountSlices, OnePieceWhileNothingIsShared) {
  CountSlices slices(false);
  const uint64_t first_period = slices.period_ns();
  for (int i = 0; i < 5; ++i) slices.add({{10, 100, 100}, {1, 100, 100}});
  ASSERT_EQ(slices.slices().size(), 1u);
  EXPECT_EQ(slices.slices()[0][0], (Reading{50, 500, 500}));
  EXPECT_EQ(slices.slices()[0][1], (Reading{5, 500, 500}));
  EXPECT_GT(slices.period_ns(), first_period);
}

TEST(CountSlices, PiecesAreKeptOnceCountersAreShared) {
  CountSlices slices(false);
  slices.add({{10, 100, 100}});
  slices.add({{10, 100, 50}});
  slices.add({{10, 100, 100}});
  EXPECT_EQ(slices.slices().size(), 3u);
}

TEST(CountSlices, StayFewAndLoseNothing) {
  CountSlices slices(false);
  for (int i = 0; i < 5000; ++i) slices.add({{3, 100, 40}});
  EXPECT_LE(slices.slices().size(), 256u);
  Reading sum;
  for (const auto& slice : slices.slices()) sum += slice[0];
  EXPECT_EQ(sum, (Reading{15'000, 500'000, 200'000}));
}

TEST(CountSlices, IntervalsOfTheUserAreNeverUnited) {
  CountSlices slices(true);
  for (int i = 0; i < 1000; ++i) slices.add({{1, 10, 10}});
  EXPECT_EQ(slices.slices().size(), 1000u);
}

}  // namespace
}  // namespace culprit
