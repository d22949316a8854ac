#include "records/address_spaces.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

Mapping mapping(uint64_t start, uint64_t end, uint64_t offset, FileKey file) {
  return {RunAddress(start), RunAddress(end), offset, file};
}

TEST(AddressSpaces, FindsTheMappingThatHoldsAnAddress) {
  AddressSpaces spaces;
  spaces.map(1, mapping(0x1000, 0x2000, 0x500, 7));
  EXPECT_EQ(spaces.find(1, RunAddress(0xfff)), nullptr);
  ASSERT_NE(spaces.find(1, RunAddress(0x1000)), nullptr);
  EXPECT_EQ(*spaces.find(1, RunAddress(0x1fff)), mapping(0x1000, 0x2000, 0x500, 7));
  EXPECT_EQ(spaces.find(1, RunAddress(0x2000)), nullptr);
  EXPECT_EQ(spaces.find(2, RunAddress(0x1000)), nullptr);
}

TEST(AddressSpaces, LaterMappingSplitsAnEarlierOne) {
  AddressSpaces spaces;
  spaces.map(1, mapping(0x1000, 0x9000, 0x0, 1));
  spaces.map(1, mapping(0x3000, 0x4000, 0x10, 2));
  EXPECT_EQ(spaces.mappings(1),
            (std::vector<Mapping>{mapping(0x1000, 0x3000, 0x0, 1), mapping(0x3000, 0x4000, 0x10, 2),
                                  mapping(0x4000, 0x9000, 0x3000, 1)}));
}

TEST(AddressSpaces, LaterMappingCoversSeveralInPart) {
  AddressSpaces spaces;
  spaces.map(1, mapping(0x1000, 0x2000, 0, 1));
  spaces.map(1, mapping(0x2000, 0x3000, 0, 2));
  spaces.map(1, mapping(0x3000, 0x4000, 0, 3));
  spaces.map(1, mapping(0x1800, 0x3800, 0, 4));
  EXPECT_EQ(spaces.mappings(1),
            (std::vector<Mapping>{mapping(0x1000, 0x1800, 0, 1), mapping(0x1800, 0x3800, 0, 4),
                                  mapping(0x3800, 0x4000, 0x800, 3)}));
}

TEST(AddressSpaces, ForkSharesUntilOneChanges) {
  AddressSpaces spaces;
  spaces.map(1, mapping(0x1000, 0x2000, 0, 1));
  spaces.fork(1, 2);
  spaces.map(2, mapping(0x5000, 0x6000, 0, 2));
  EXPECT_NE(spaces.find(2, RunAddress(0x1000)), nullptr);
  EXPECT_EQ(spaces.find(1, RunAddress(0x5000)), nullptr);
  spaces.clear(1);
  EXPECT_NE(spaces.find(2, RunAddress(0x1000)), nullptr);
}

TEST(AddressSpaces, ForkOfUnknownParentForgetsWhatTheNumberHadBefore) {
  AddressSpaces spaces;
  spaces.map(2, mapping(0x1000, 0x2000, 0, 1));
  spaces.fork(1, 2);
  EXPECT_EQ(spaces.find(2, RunAddress(0x1000)), nullptr);
}

TEST(AddressSpaces, IgnoresEmptyAndBackwardRanges) {
  AddressSpaces spaces;
  spaces.map(1, mapping(0x2000, 0x2000, 0, 1));
  spaces.map(1, mapping(0x3000, 0x2000, 0, 1));
  EXPECT_TRUE(spaces.mappings(1).empty());
}

}  // namespace
}  // namespace culprit
