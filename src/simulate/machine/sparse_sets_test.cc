#include "simulate/machine/sparse_sets.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace culprit::simulate {
namespace {

TEST(SparseSets, GivesSetsTheirEntriesInTheOrderOfTheirFirstUse) {
  SparseSets<uint64_t> sets(1000, 4);
  EXPECT_EQ(sets.find(700), SparseSets<uint64_t>::kNowhere);
  EXPECT_EQ(sets.place(700), 0U);
  EXPECT_EQ(sets.place(3), 4U);
  EXPECT_EQ(sets.place(700), 0U);
  EXPECT_EQ(sets.find(3), 4U);
  EXPECT_EQ(sets.find(4), SparseSets<uint64_t>::kNowhere);
}

TEST(SparseSets, HasRoomForAllSets) {
  constexpr uint64_t kSets = 64;
  SparseSets<uint64_t> sets(kSets, 3);
  for (uint64_t set = 0; set < kSets; ++set) {
    const uint32_t first = sets.place(kSets - 1 - set);
    EXPECT_EQ(first, 3 * set);
    for (uint32_t way = 0; way < 3; ++way) {
      EXPECT_EQ(sets[first + way], 0U);
      sets[first + way] = set;
    }
  }
}

TEST(SparseSets, ThreadsThatPlaceTheirOwnSetsDoNotShareEntries) {
  constexpr uint64_t kSets = 4000;
  SparseSets<uint64_t> sets(kSets, 2);
  const auto place_every_second = [&sets](uint64_t first) {
    for (uint64_t set = first; set < kSets; set += 2) sets[sets.place(set)] = set + 1;
  };
  std::thread other(place_every_second, 1);
  place_every_second(0);
  other.join();
  for (uint64_t set = 0; set < kSets; ++set) EXPECT_EQ(sets[sets.find(set)], set + 1);
}

}  // namespace
}  // namespace culprit::simulate
