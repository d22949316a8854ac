#include "base/hash.h"

#include <gtest/gtest.h>
#include <set>

namespace culprit {
namespace {

size_t count_places(auto key_of) {
  std::set<size_t> places;
  for (uint64_t i = 0; i < 1 << 12; ++i) places.insert(SpreadHash()(key_of(i)) & 0xffff);
  return places.size();
}

// 4,096 keys in 65,536 places: by chance 4,096 - 4,096^2 / (2 * 65,536) = 3,968 are used.
TEST(SpreadHash, KeysOfOneKindFallOnManyPlaces) {
  EXPECT_GT(count_places([](uint64_t i) { return 0x7f0000000000 + 16 * i; }), 3'900u);
  EXPECT_GT(count_places([](uint64_t i) { return i << 32 | 7; }), 3'900u);
  EXPECT_GT(count_places([](uint64_t i) { return (i / 64) << 32 | (i % 64); }), 3'900u);
}

}  // namespace
}  // namespace culprit
