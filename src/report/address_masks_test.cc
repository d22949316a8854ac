#include "report/address_masks.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

MaskCover cover(uint64_t begin, uint64_t end, unsigned masks) {
  return cover_by_masks(begin, end - begin, masks);
}

/// Offsets of the paper's matrix, 12,000 by 12,000 doubles.
/// Source: papers/data-structure-profiling, section 3
TEST(AddressMasks, CoverThePapersMatrixAsItSays) {
  const MaskCover matrix = cover_by_masks(0x6000'0000'0002'6f40, 1'152'000'000, 4);
  EXPECT_EQ(matrix.start_offset, 159'552U);
  EXPECT_EQ(matrix.end_offset, 55'800'000U);
}

TEST(AddressMasks, AnAlignedPowerOfTwoIsCoveredExactly) {
  const MaskCover block = cover(0x4000, 0x8000, 1);
  EXPECT_EQ(block.start_offset, 0U);
  EXPECT_EQ(block.end_offset, 0U);
}

/// By hand: [1, 9) is [1, 2), [2, 4), [4, 8), [8, 9).
TEST(AddressMasks, FewerCoverMore) {
  const auto offsets = [](unsigned masks) {
    const MaskCover one = cover(1, 9, masks);
    return std::pair(one.start_offset, one.end_offset);
  };
  EXPECT_EQ(offsets(4), std::pair(uint64_t{0}, uint64_t{0}));
  EXPECT_EQ(offsets(3), std::pair(uint64_t{1}, uint64_t{0}));  // [0, 4)
  EXPECT_EQ(offsets(2), std::pair(uint64_t{1}, uint64_t{7}));  // [0, 16)
  EXPECT_EQ(offsets(1), std::pair(uint64_t{1}, uint64_t{7}));
}

TEST(AddressMasks, SurviveTheEndsOfMemory) {
  EXPECT_EQ(cover(1, UINT64_MAX, 1).start_offset, 1U);
  EXPECT_EQ(cover(UINT64_MAX - 3, UINT64_MAX, 4).end_offset, 0U);
  EXPECT_EQ(cover_by_masks(5, 0, 4).start_offset, 0U);
  EXPECT_EQ(cover_by_masks(UINT64_MAX, 2, 4).end_offset, 0U);
}

}  // namespace
}  // namespace culprit
