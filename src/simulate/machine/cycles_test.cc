#include "simulate/machine/cycles.h"

#include <gtest/gtest.h>
#include <random>

namespace culprit::simulate {
namespace {

using enum CycleClass;

/// Instructions of one uop and one cycle each; four wide.
BlockCycles block_of(size_t uops) {
  return compute_block_cycles(std::vector<InstructionCosts>(uops), {}, CoreSettings());
}

TEST(BlockCycles, TakesTheWidthIfNothingElseLimits) {
  const BlockCycles block = block_of(6);  // 6 uops, 4 wide
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 1.5);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[0][base]), 0.25);
}

TEST(BlockCycles, GivesWhatIsAboveTheWidthToTheLargestLimit) {
  std::vector<InstructionCosts> instructions(8);
  instructions[2].port_cycles = 1;
  instructions[5].port_cycles = 3;
  instructions[7].divider_cycles = 5;
  const BlockCycles block = compute_block_cycles(instructions, {.port_cycles = 10}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 10);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[2][port_saturation]), 2);  // a quarter of 8
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[5][port_saturation]), 6);
  EXPECT_EQ(block.instructions[7][instruction_latency], 0U);
}

TEST(BlockCycles, DividerIsLatency) {
  std::vector<InstructionCosts> instructions(4);
  instructions[1].divider_cycles = 21;
  EXPECT_DOUBLE_EQ(to_cycles(compute_block_cycles(instructions, {}, CoreSettings())
                                 .instructions[1][instruction_latency]),
                   20);
}

// Two locked additions and 20 others, four wide: 5.5 cycles of width within 14 of the locks.
TEST(BlockCycles, LockedInstructionsExcludeEachOtherAndNothingElse) {
  std::vector<InstructionCosts> instructions(22);
  instructions[3].exclusive_cycles = 7;
  instructions[9].exclusive_cycles = 7;
  const BlockCycles block = compute_block_cycles(instructions, {}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 14);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[3][serialization]), 4.25);  // half of 8.5
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[9][serialization]), 4.25);
  EXPECT_EQ(block.instructions[3][port_saturation], 0U);
}

// A fence of 57 cycles and 40 others: nothing runs beside it.
TEST(BlockCycles, FencesAddUpWithWhatIsAroundThem) {
  std::vector<InstructionCosts> instructions(41);
  instructions[0].uops = 0;
  instructions[0].serialize_cycles = 57;
  const BlockCycles block = compute_block_cycles(instructions, {}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 67);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[0][serialization]), 57);
}

TEST(BlockCycles, PartsOfAnyWidthAddUpToTheTotal) {
  std::mt19937 random(1);
  for (uint32_t width = 1; width <= 16; ++width) {
    CoreSettings core;
    core.dispatch_width = width;
    for (int round = 0; round < 50; ++round) {
      std::vector<InstructionCosts> instructions(1 + random() % 30);
      for (InstructionCosts& one : instructions) {
        one.uops = static_cast<uint32_t>(random() % 4);
        one.divider_cycles = random() % 8 == 0 ? 17.3 : 0;
        one.microcode_cycles = random() % 8 == 0 ? 31.7 : 0;
        one.port_cycles = static_cast<double>(random() % 100) / 33;
        one.is_call = random() % 16 == 0;
        one.is_of_frame = random() % 16 == 0;
      }
      const BlockCycles block =
          compute_block_cycles(instructions,
                               {.port_cycles = static_cast<double>(random() % 40) / 3,
                                .fetch_cycles = static_cast<double>(random() % 40) / 7},
                               core);
      CycleParts sum;
      for (const CycleParts& parts : block.instructions) sum.add(parts);
      EXPECT_EQ(sum.total(), block.total);
      // A block takes at least the time of the width; the largest part of a tick is lost in
      // rounding.
      EXPECT_GE(block.total + 1, Ticks{block.uops} * kTicksPerCycle / width);
    }
  }
}

TEST(BlockCycles, CallsTakeTheirPartOfTheBase) {
  std::vector<InstructionCosts> instructions(20);  // 5 cycles
  instructions[19].is_call = true;
  const BlockCycles block = compute_block_cycles(instructions, {}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 5);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[19][call_overhead]), 3);
}

// Of 20 instructions in 5 cycles two handle frames.
TEST(BlockCycles, ReturnsAndFramesAreOfCalls) {
  std::vector<InstructionCosts> instructions(20);
  instructions[0].is_of_frame = instructions[19].is_of_frame = true;
  const BlockCycles block = compute_block_cycles(instructions, {}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 5);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[0][call_overhead]), 0.25);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[19][call_overhead]), 0.25);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[1][base]), 0.25);
}

TEST(BlockCycles, StepsAreDispatchedInTurn) {
  std::vector<InstructionCosts> instructions(3);
  instructions[1].microcode_cycles = 2;
  instructions[2].loads = 1;
  const BlockCycles block = compute_block_cycles(instructions, {}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.steps[0].dispatched), 0.25);
  EXPECT_DOUBLE_EQ(to_cycles(block.steps[1].dispatched), 2.5);
  EXPECT_DOUBLE_EQ(to_cycles(block.steps[2].dispatched), 2.75);
  EXPECT_EQ(block.steps[2].dispatched, block.total);
  EXPECT_EQ(block.steps[2].uops, 3U);
  EXPECT_EQ(block.steps[1].loads, 0U);
  EXPECT_EQ(block.steps[2].loads, 1U);
}

}  // namespace
}  // namespace culprit::simulate
