#include "model/sorted_sums.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace culprit {
namespace {

const std::vector<Event> kNoEvents;

FallThrough row(uint64_t from, uint64_t count) {
  return {ContextId(0u), ImageId(0u), FileOffset(from), FileOffset(from), count};
}

TEST(SortedSums, AreEmptyAtFirst) {
  SortedSums<FallThrough> sums;
  EXPECT_EQ(sums.entries(), 0u);
  EXPECT_TRUE(sums.take(kNoEvents).empty());
}

TEST(SortedSums, AddUpByKeyInOrder) {
  SortedSums<FallThrough> sums;
  sums.add(row(3, 10), kNoEvents);
  sums.add(row(1, 2), kNoEvents);
  sums.add(row(3, 5), kNoEvents);
  EXPECT_EQ(sums.take(kNoEvents), (std::vector{row(1, 2), row(3, 15)}));
  EXPECT_TRUE(sums.take(kNoEvents).empty());
}

/// A std::map has the same, for a few keys often and for many keys rarely.
TEST(SortedSums, AgreeWithAMap) {
  std::mt19937 random(1);
  for (const uint32_t keys : {1u, 7u, 20'000u, 1'000'000u}) {
    SortedSums<FallThrough> sums;
    std::map<uint64_t, uint64_t> expected;
    for (uint64_t value = 1; value <= 200'000; ++value) {
      const uint64_t key = random() % keys;
      sums.add(row(key, value), kNoEvents);
      expected[key] += value;
    }
    EXPECT_GE(sums.entries(), expected.size());
    std::map<uint64_t, uint64_t> found;
    uint64_t last = 0;
    for (const FallThrough& one : sums.take(kNoEvents)) {
      EXPECT_GE(one.from.value, last);
      last = one.from.value + 1;
      found[one.from.value] = one.count;
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(sums.entries(), 0u);
  }
}

/// However many rows come: few keys never leave the table; of many, each run has at most half
/// of the one before it, and the first at most all.
TEST(SortedSums, HoldNoMoreThanTwiceTheirKeys) {
  SortedSums<FallThrough> sums;
  for (uint32_t value = 0; value < 100'000; ++value) sums.add(row(value % 1000, 1), kNoEvents);
  EXPECT_EQ(sums.entries(), 1000u);
  for (uint32_t value = 0; value < 400'000; ++value) sums.add(row(value % 100'000, 1), kNoEvents);
  EXPECT_LE(sums.entries(), 200'000u + 16'384u);
}

}  // namespace
}  // namespace culprit
