#include "simulate/objects/shadow_memory.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace culprit::objects {
namespace {

TEST(ShadowMemory, KnowsNothingAtFirst) {
  const ShadowMemory shadow;
  EXPECT_EQ(shadow.find(0), kNothing);
  EXPECT_EQ(shadow.find(0x7fff'ffff'ffff), kNothing);
  EXPECT_EQ(shadow.find(UINT64_MAX), kNothing);
}

TEST(ShadowMemory, TellsObjectsApartToTheByte) {
  ShadowMemory shadow;
  shadow.paint(0x1004, 0x1008, 7);  // two variables of four bytes, side by side
  shadow.paint(0x1008, 0x100c, 8);
  EXPECT_EQ(shadow.find(0x1003), kNothing);
  EXPECT_EQ(shadow.find(0x1004), 7U);
  EXPECT_EQ(shadow.find(0x1007), 7U);
  EXPECT_EQ(shadow.find(0x1008), 8U);
  EXPECT_EQ(shadow.find(0x100c), kNothing);
}

TEST(ShadowMemory, PaintsOverWhatWasShared) {
  ShadowMemory shadow;
  shadow.paint(0x1004, 0x1008, 7);
  shadow.paint(0x0ff0, 0x1030, 9);
  for (uint64_t at = 0x0ff0; at < 0x1030; ++at) EXPECT_EQ(shadow.find(at), 9U) << at;
}

TEST(ShadowMemory, ABlockGetsWhatAnAllocatorRoundsUpTo) {
  constexpr ObjectNumber kAllocator = 1;
  ShadowMemory shadow;
  shadow.paint(0x1000, 0x1100, kAllocator);
  shadow.paint(0x1010, 0x1028, 7, kAllocator);  // 24 bytes of 32
  EXPECT_EQ(shadow.find(0x102f), 7U);
  EXPECT_EQ(shadow.find(0x1030), kAllocator);
  shadow.paint(0x1040, 0x1048, 8, kAllocator);
  shadow.paint(0x1048, 0x1050, 9, kAllocator);  // not the allocator's: another block
  EXPECT_EQ(shadow.find(0x1040), 8U);
  EXPECT_EQ(shadow.find(0x1048), 9U);
}

TEST(ShadowMemory, HasPartsAcrossTheirEdges) {
  ShadowMemory shadow;
  const uint64_t edge = uint64_t{5} << 26;
  shadow.paint(edge - 40, edge + 40, 3);
  EXPECT_EQ(shadow.find(edge - 41), kNothing);
  EXPECT_EQ(shadow.find(edge - 40), 3U);
  EXPECT_EQ(shadow.find(edge + 39), 3U);
  EXPECT_EQ(shadow.find(edge + 40), kNothing);
}

TEST(ShadowMemory, LeavesOutWhatNoProgramHas) {
  ShadowMemory shadow;
  shadow.paint(UINT64_MAX - 100, UINT64_MAX, 3);
  shadow.paint(0x2000, 0x1000, 3);
  EXPECT_EQ(shadow.find(UINT64_MAX - 50), kNothing);
  EXPECT_EQ(shadow.find(0x1800), kNothing);
}

/// A table with one object per byte is what it is compared with.
TEST(ShadowMemory, IsWhatATableOfBytesWouldBe) {
  std::mt19937_64 random(1);  // NOLINT: repeatable
  ShadowMemory shadow;
  constexpr uint64_t kStart = (uint64_t{1} << 26) - 300;
  std::map<uint64_t, ObjectNumber> bytes;
  for (int step = 0; step < 2000; ++step) {
    const uint64_t begin = kStart + random() % 600;
    const uint64_t end = begin + random() % 70;
    const auto object = static_cast<ObjectNumber>(random() % 5);
    shadow.paint(begin, end, object);
    for (uint64_t at = begin; at < end; ++at) bytes[at] = object;
  }
  for (uint64_t at = kStart - 10; at < kStart + 700; ++at) EXPECT_EQ(shadow.find(at), bytes[at]);
}

}  // namespace
}  // namespace culprit::objects
