// Code over code: what is on top counts, and what sticks out stays.

#include "recording/code_ranges.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace culprit {
namespace {

Mapping at(uint64_t start, uint64_t end, FileKey file) {
  return {RunAddress(start), RunAddress(end), 0, file};
}

TEST(CodeRanges, LaterCodeCoversAndSplits) {
  CodeRanges ranges;
  ranges.map(at(100, 200, 1));
  ranges.map(at(140, 150, 2));
  ASSERT_NE(ranges.find(RunAddress(149)), nullptr);
  EXPECT_EQ(ranges.find(RunAddress(149))->file, 2u);
  EXPECT_EQ(*ranges.find(RunAddress(139)), (Mapping{RunAddress(100), RunAddress(140), 0, 1}));
  EXPECT_EQ(*ranges.find(RunAddress(150)), (Mapping{RunAddress(150), RunAddress(200), 50, 1}));
  EXPECT_EQ(ranges.find(RunAddress(200)), nullptr);
  EXPECT_EQ(ranges.find(RunAddress(99)), nullptr);
  ranges.map(at(7, 7, 3));
  EXPECT_EQ(ranges.find(RunAddress(7)), nullptr);
}

TEST(CodeRanges, FindsWhatWasPaintedLast) {
  // Mappings are painted into an array, too, one address after the other.
  std::mt19937 random(7);
  CodeRanges ranges;
  std::map<uint64_t, std::pair<FileKey, uint64_t>> painted;  // address: object, offset in it
  for (FileKey file = 0; file < 400; ++file) {
    const uint64_t start = random() % 500;
    const uint64_t size = random() % 60;
    ranges.map(at(start, start + size, file));
    for (uint64_t a = start; a < start + size; ++a) painted[a] = {file, a - start};
    for (uint64_t a = 0; a < 600; ++a) {
      const Mapping* const found = ranges.find(RunAddress(a));
      ASSERT_EQ(found != nullptr, painted.contains(a)) << a;
      if (found == nullptr) continue;
      EXPECT_EQ(found->file, painted[a].first);
      EXPECT_EQ(found->file_offset + (a - found->start.value), painted[a].second);
    }
  }
}

TEST(CodeRanges, TakesAnyOrderOfAddresses) {
  // Downwards: a sorted array would move all that it has, each time (some minutes).
  CodeRanges ranges;
  for (uint64_t i = 500'000; i > 0; --i) ranges.map(at(i * 16, i * 16 + 16, 1));
  EXPECT_NE(ranges.find(RunAddress(16)), nullptr);
}

}  // namespace
}  // namespace culprit
