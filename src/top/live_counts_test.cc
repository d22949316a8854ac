#include "top/live_counts.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"
#include "model/counts.h"

namespace culprit {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// The test profile's 1,000 samples, as if they had come until so many seconds after the start.
Profile profile_at(int64_t seconds) {
  TestProfile test = make_test_profile();
  test.profile.runs.back().duration_ns = seconds * kSecond;
  return std::move(test.profile);
}

uint64_t samples_of(const LiveWindow& window) {
  return total_sums(window.profile).front().samples;
}

TEST(LiveCounts, KnowsNothingBeforeTheFirstCounts) {
  LiveCounts counts;
  EXPECT_EQ(counts.tables(), nullptr);
  EXPECT_EQ(counts.window(0).samples, 0u);
}

TEST(LiveCounts, WindowHoldsTheLastSlicesOnly) {
  LiveCounts counts;
  for (const int64_t end : {1, 2, 3, 4}) counts.add(profile_at(end));
  const LiveWindow last = counts.window(2 * kSecond);
  EXPECT_EQ(samples_of(last), 2000u);  // two slices of 1,000
  EXPECT_EQ(last.samples, 2000u);
  EXPECT_DOUBLE_EQ(last.seconds, 2);
  EXPECT_FALSE(last.is_all);
}

TEST(LiveCounts, NothingIsLostFromEverything) {
  LiveCounts counts;
  for (int64_t end = 1; end <= 100; ++end) {
    counts.add(profile_at(end));
    if (end == 50) {
      EXPECT_EQ(samples_of(counts.window(0)), 50'000u);
    }
  }
  const LiveWindow all = counts.window(0);
  EXPECT_EQ(samples_of(all), 100'000u);
  EXPECT_DOUBLE_EQ(all.seconds, 100);
  EXPECT_TRUE(all.is_all);
  // Slices are kept for a minute, and no longer.
  EXPECT_EQ(samples_of(counts.window(1000 * kSecond)), 60'000u);
}

TEST(LiveCounts, TablesHaveNoCounts) {
  LiveCounts counts;
  counts.add(profile_at(1));
  ASSERT_NE(counts.tables(), nullptr);
  EXPECT_TRUE(counts.tables()->histograms.empty());
  EXPECT_EQ(counts.tables()->images.size(), make_test_profile().profile.images.size());
}

TEST(LiveCounts, KeepsContextsThatAreWanted) {
  LiveCounts counts;
  counts.add(profile_at(1));
  LiveWindow window = counts.window(0);
  keep_contexts(window.profile, [&](const Context& context) {
    return window.profile.processes[context.process.value].pid == 101;
  });
  EXPECT_EQ(samples_of(window), 100u);  // those of sort
}

}  // namespace
}  // namespace culprit
