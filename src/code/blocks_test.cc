#include "code/blocks.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

Instruction at(uint64_t address, Flow flow = Flow::next, uint64_t target = 0) {
  Instruction instruction;
  instruction.address = LinkAddress(address);
  instruction.size = 2;
  instruction.flow = flow;
  if (target != 0) instruction.target = LinkAddress(target);
  return instruction;
}

// The function of the drawing in blocks.h, with a call in its first block:
//   10 next, 12 call 100, 14 branch 18, 16 next, 18 jump 10, 1a trap, 1c return
std::vector<Instruction> example() {
  return {at(0x10),
          at(0x12, Flow::call, 0x100),
          at(0x14, Flow::branch, 0x18),
          at(0x16),
          at(0x18, Flow::jump, 0x10),
          at(0x1a, Flow::trap),
          at(0x1c, Flow::returns)};
}

TEST(Blocks, BeginAtTargetsAndAfterTransfersButNotAfterCalls) {
  const std::vector<Block> expected = {{LinkAddress(0x10), LinkAddress(0x16), 0, 3},
                                       {LinkAddress(0x16), LinkAddress(0x18), 3, 4},
                                       {LinkAddress(0x18), LinkAddress(0x1a), 4, 5},
                                       {LinkAddress(0x1a), LinkAddress(0x1c), 5, 6},
                                       {LinkAddress(0x1c), LinkAddress(0x1e), 6, 7}};
  EXPECT_EQ(find_blocks(example()), expected);
}

TEST(Blocks, IgnoreTargetsOutsideAndInsideInstructions) {
  const std::vector<Instruction> code = {at(0x10, Flow::branch, 0x13), at(0x12),
                                         at(0x14, Flow::branch, 0x9000)};
  const std::vector<Block> expected = {{LinkAddress(0x10), LinkAddress(0x12), 0, 1},
                                       {LinkAddress(0x12), LinkAddress(0x16), 1, 3}};
  EXPECT_EQ(find_blocks(code), expected);
}

TEST(Blocks, EndAtGaps) {
  const std::vector<Instruction> code = {at(0x10), at(0x20)};
  const std::vector<Block> expected = {{LinkAddress(0x10), LinkAddress(0x12), 0, 1},
                                       {LinkAddress(0x20), LinkAddress(0x22), 1, 2}};
  EXPECT_EQ(find_blocks(code), expected);
}

TEST(Blocks, OfNothingAreNone) {
  EXPECT_TRUE(find_blocks({}).empty());
}

TEST(Blocks, AreFoundByAnyAddressInside) {
  const std::vector<Block> blocks = find_blocks(example());
  EXPECT_EQ(find_block(blocks, LinkAddress(0x10)), 0u);
  EXPECT_EQ(find_block(blocks, LinkAddress(0x15)), 0u);
  EXPECT_EQ(find_block(blocks, LinkAddress(0x16)), 1u);
  EXPECT_EQ(find_block(blocks, LinkAddress(0x1d)), 4u);
  EXPECT_EQ(find_block(blocks, LinkAddress(0x0f)), std::nullopt);
  EXPECT_EQ(find_block(blocks, LinkAddress(0x1e)), std::nullopt);
}

}  // namespace
}  // namespace culprit
