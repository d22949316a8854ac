#include "simulate/machine/cache.h"

#include <gtest/gtest.h>
#include <vector>

namespace culprit::simulate {
namespace {

uint64_t now = 0;

/// One line used: whether it was there.
bool use(Cache& cache, uint64_t line) {
  const Slot slot = cache.find(line);
  if (slot != kNoSlot) {
    cache.use(slot, ++now);
    return true;
  }
  cache.fill(line, cache.find_victim(line), 0, ++now);
  return false;
}

CacheGeometry one_set(uint32_t ways, Replacement replacement) {
  return {uint64_t{ways} * 64, ways, replacement};
}

TEST(Cache, ReplacesTheLeastRecentlyUsedLine) {
  Cache cache(one_set(4, Replacement::lru), 64);
  for (const uint64_t line : {10U, 11U, 12U, 13U}) EXPECT_FALSE(use(cache, line));
  EXPECT_TRUE(use(cache, 10));   // order, oldest first: 11 12 13 10
  EXPECT_FALSE(use(cache, 14));  // 11 leaves
  EXPECT_EQ(cache.find(11), kNoSlot);
  EXPECT_TRUE(use(cache, 12));   // 13 10 14 12
  EXPECT_FALSE(use(cache, 11));  // 13 leaves
  EXPECT_EQ(cache.find(13), kNoSlot);
  for (const uint64_t line : {10U, 14U, 12U, 11U}) EXPECT_TRUE(use(cache, line)) << line;
}

TEST(Cache, PseudoLruFollowsItsTreeOfBits) {
  // Ways 0 to 3 hold 10 to 13. After using 10 11 12 13 in turn, the root points to the lower
  // half and that half's bit to way 0. Using 10 turns the root to the upper half, whose bit
  // points to way 2: 12 leaves, although 11 is older.
  Cache cache(one_set(4, Replacement::plru), 64);
  for (const uint64_t line : {10U, 11U, 12U, 13U}) EXPECT_FALSE(use(cache, line));
  EXPECT_TRUE(use(cache, 10));
  EXPECT_FALSE(use(cache, 14));
  EXPECT_EQ(cache.find(12), kNoSlot);
  EXPECT_NE(cache.find(11), kNoSlot);
}

TEST(Cache, RandomReplacementIsTheSameInEveryRunAndReachesEveryWay) {
  Cache first(one_set(4, Replacement::random), 64);
  Cache second(one_set(4, Replacement::random), 64);
  std::vector<int> replaced(4);
  for (uint64_t line = 0; line < 1000; ++line) {
    const Slot slot = first.find_victim(line);
    EXPECT_EQ(slot, second.find_victim(line));
    ++replaced[slot];
    first.fill(line, slot, 0, line + 1);
    second.fill(line, slot, 0, line + 1);
  }
  // 4 ways, 1000 fills: 250 each, standard deviation sqrt(1000 x 1/4 x 3/4) = 13.7.
  for (const int count : replaced) EXPECT_NEAR(count, 250, 5 * 13.7);
}

TEST(Cache, LinesOfDifferentSetsDoNotMeet) {
  Cache cache({512, 2, Replacement::lru}, 64);  // 4 sets
  EXPECT_EQ(cache.sets(), 4U);
  for (uint64_t line = 0; line < 8; ++line) EXPECT_FALSE(use(cache, line));
  for (uint64_t line = 0; line < 8; ++line) EXPECT_TRUE(use(cache, line));
  EXPECT_FALSE(use(cache, 8));  // set 0: line 0 leaves
  EXPECT_EQ(cache.find(0), kNoSlot);
  EXPECT_NE(cache.find(1), kNoSlot);
}

TEST(Cache, AnyNumberOfSetsWorks) {
  Cache cache({uint64_t{3} * 2 * 64, 2, Replacement::lru}, 64);  // 3 sets of 2
  EXPECT_EQ(cache.sets(), 3U);
  for (const uint64_t line : {0U, 3U, 1U}) use(cache, line);
  use(cache, 6);  // 0, 3, 6 share set 0: 0 leaves
  EXPECT_EQ(cache.find(0), kNoSlot);
  EXPECT_NE(cache.find(3), kNoSlot);
  EXPECT_NE(cache.find(1), kNoSlot);
}

TEST(Cache, KeepsFlagsAndHandsThemOutOnEviction) {
  Cache cache(one_set(1, Replacement::lru), 64);
  cache.fill(7, cache.find_victim(7), kDirty, 1);
  const Evicted evicted = cache.fill(9, cache.find_victim(9), 0, 2);
  EXPECT_EQ(evicted.line, 7U);
  EXPECT_EQ(evicted.flags, kDirty);
  EXPECT_EQ(cache.flags_at(cache.find(9)), 0);
  EXPECT_EQ(cache.remove(cache.find(9)).line, 9U);
  EXPECT_EQ(cache.find(9), kNoSlot);
}

TEST(Cache, ShowsItsLinesSetBySetWhateverCameFirst) {
  Cache cache({512, 2, Replacement::lru}, 64);  // 4 sets
  for (const uint64_t line : {7U, 2U, 4U, 0U, 3U}) use(cache, line);
  std::vector<uint64_t> lines;
  cache.for_each_line([&](Slot slot, uint64_t line) {
    lines.push_back(line);
    EXPECT_EQ(cache.remove(slot).line, line);
  });
  EXPECT_EQ(lines, std::vector<uint64_t>({4, 0, 2, 7, 3}));
  cache.for_each_line([](Slot, uint64_t line) { ADD_FAILURE() << line; });
}

TEST(Cache, OfNoBytesHoldsNothing) {
  const Cache cache;
  EXPECT_FALSE(cache.present());
  EXPECT_EQ(cache.find(0), kNoSlot);
}

}  // namespace
}  // namespace culprit::simulate
