#include "model/sorted_sums.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace culprit {
namespace {

TEST(SortedSums, AreEmptyAtFirst) {
  SortedSums<int, int, std::hash<int>> sums;
  EXPECT_EQ(sums.entries(), 0u);
  EXPECT_TRUE(sums.take().empty());
}

TEST(SortedSums, AddUpByKeyInOrder) {
  SortedSums<int, int, std::hash<int>> sums;
  sums.add(3, 10);
  sums.add(1, 2);
  sums.add(3, 5);
  const std::vector<std::pair<int, int>> expected = {{1, 2}, {3, 15}};
  EXPECT_EQ(sums.take(), expected);
  EXPECT_TRUE(sums.take().empty());
}

/// The same as a std::map, for a few keys often and for many keys rarely.
TEST(SortedSums, AgreeWithAMap) {
  std::mt19937 random(1);
  for (const uint32_t keys : {1u, 7u, 20'000u, 1'000'000u}) {
    SortedSums<uint32_t, uint64_t, std::hash<uint32_t>> sums;
    std::map<uint32_t, uint64_t> expected;
    for (uint64_t value = 1; value <= 200'000; ++value) {
      const auto key = static_cast<uint32_t>(random() % keys);
      sums.add(key, value);
      expected[key] += value;
    }
    EXPECT_GE(sums.entries(), expected.size());
    const auto found = sums.take();
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                           [](const auto& a, const auto& b) {
                             return a.first == b.first && a.second == b.second;
                           }));
    EXPECT_EQ(sums.entries(), 0u);
  }
}

/// However many values come: few keys never leave the table; of many, each run has at most half
/// of the one before it, and the first at most all.
TEST(SortedSums, HoldNoMoreThanTwiceTheirKeys) {
  SortedSums<uint32_t, uint64_t, std::hash<uint32_t>> sums;
  for (uint32_t value = 0; value < 2'000'000; ++value) sums.add(value % 1000, 1);
  EXPECT_EQ(sums.entries(), 1000u);
  for (uint32_t value = 0; value < 2'000'000; ++value) sums.add(value % 100'000, 1);
  EXPECT_LE(sums.entries(), 200'000u + 16'384u);
}

}  // namespace
}  // namespace culprit
