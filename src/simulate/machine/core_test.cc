#include "simulate/machine/core.h"

#include <gtest/gtest.h>
#include <random>

#include "simulate/machine/machine.h"

namespace culprit::simulate {
namespace {

using enum CycleClass;

/// Four wide, reorder buffer of 192, 10 miss buffers; memory without limit unless set.
Machine simple_machine() {
  Machine machine;
  machine.memory.latency_cycles = 200;
  machine.memory.bytes_per_cycle = 1e9;
  machine.core.load_queue = 4096;
  return machine;
}

/// A block of `uops` instructions of one uop each.
BlockCycles make_block(uint32_t uops, const BlockCosts& costs = {}) {
  const std::vector<InstructionCosts> instructions(uops);
  return compute_block_cycles(instructions, costs, CoreSettings());
}

Outcome from(DataSource source, uint16_t latency) {
  Outcome outcome;
  outcome.source = source;
  outcome.missed_lines = 1;
  outcome.latency_cycles = latency;
  return outcome;
}
Outcome from_memory() {
  Outcome outcome = from(DataSource::memory, 200);
  outcome.memory_lines = 1;
  return outcome;
}

/// All stalls of a core by class, in cycles.
double stalled(const IntervalCore& core, CycleClass kind) {
  Ticks sum = 0;
  for (const auto& [site, parts] : core.stalls()) sum += parts[kind];
  return to_cycles(sum);
}

TEST(BlockCycles, TakesTheWidthIfNothingElseLimits) {
  const BlockCycles block = make_block(6);  // 6 uops, 4 wide
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 1.5);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[0][base]), 0.25);
}

TEST(BlockCycles, GivesWhatIsAboveTheWidthToTheLargestLimit) {
  std::vector<InstructionCosts> instructions(8);
  instructions[2].port_cycles = 1;
  instructions[5].port_cycles = 3;
  instructions[7].divider_cycles = 5;
  const BlockCycles block =
      compute_block_cycles(instructions, {.port_cycles = 10, .chain_cycles = 7}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.total), 10);
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[2][port_saturation]), 2);  // a quarter of 8
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[5][port_saturation]), 6);
  EXPECT_EQ(block.instructions[7][instruction_latency], 0U);
}

TEST(BlockCycles, DividerIsLatencyAndChainIsSerialization) {
  std::vector<InstructionCosts> instructions(4);
  instructions[1].divider_cycles = 21;
  EXPECT_DOUBLE_EQ(to_cycles(compute_block_cycles(instructions, {}, CoreSettings())
                                 .instructions[1][instruction_latency]),
                   20);
  instructions[3].chain_cycles = 4;
  const BlockCycles block =
      compute_block_cycles(instructions, {.chain_cycles = 24}, CoreSettings());
  EXPECT_DOUBLE_EQ(to_cycles(block.instructions[3][serialization]), 23);
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
      }
      const BlockCycles block =
          compute_block_cycles(instructions,
                               {.port_cycles = static_cast<double>(random() % 40) / 3,
                                .chain_cycles = static_cast<double>(random() % 40) / 7},
                               core);
      CycleParts sum;
      for (const CycleParts& parts : block.instructions) sum.add(parts);
      EXPECT_EQ(sum.total(), block.total);
      // At least the time of the width; the largest part of a tick is lost in rounding.
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

// The load is among uops 1 to 4, dispatched at cycle 1; its data come at 201. Uop 192 is the
// last that fits behind it; block 49, uops 193 to 196, has to wait: 201 - 49 = 152.
// Karkhanis and Smith: latency - buffer / width = 200 - 192 / 4 = 152.
TEST(IntervalCore, IsolatedMissExposesWhatTheReorderBufferDoesNotHide) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  core.block(block);
  core.load(7, from_memory());
  for (int i = 1; i < 1000; ++i) core.block(block);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 1000 + 152);
  EXPECT_DOUBLE_EQ(to_cycles(core.stalls().at(7)[load_memory]), 152);
}

TEST(IntervalCore, ShortLatencyIsHiddenIfThereAreEnoughMissBuffers) {
  for (const uint32_t buffers : {10U, 64U}) {
    Machine machine = simple_machine();
    machine.core.miss_buffers = buffers;
    IntervalCore core(machine);
    const BlockCycles block = make_block(4);
    for (int i = 0; i < 100; ++i) {
      core.block(block);
      core.load(7, from(DataSource::l3, 40));
    }
    // 48 blocks fit behind a load of 40 cycles. But ten buffers serve ten loads in 40 cycles:
    // block 100 waits for load 52, the second of the sixth ten, done at 2 + 6 x 40.
    EXPECT_DOUBLE_EQ(to_cycles(core.now()), buffers == 64 ? 100 : 242);
    EXPECT_DOUBLE_EQ(stalled(core, bandwidth_saturation) + stalled(core, load_l3),
                     buffers == 64 ? 0 : 142);
  }
}

TEST(IntervalCore, MissesInOneWindowOverlap) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  core.block(block);
  for (Site site = 1; site <= 10; ++site) core.load(site, from_memory());
  for (int i = 1; i < 1000; ++i) core.block(block);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 1000 + 152);
}

TEST(IntervalCore, MoreMissesThanBuffersTakeTurns) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  core.block(block);
  for (Site site = 1; site <= 20; ++site) core.load(site, from_memory());
  for (int i = 1; i < 1000; ++i) core.block(block);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 1000 + 152 + 200);
  EXPECT_DOUBLE_EQ(stalled(core, load_memory), 152);
  EXPECT_DOUBLE_EQ(stalled(core, bandwidth_saturation), 200);
  EXPECT_EQ(core.busy().count(10), 0U);
  EXPECT_DOUBLE_EQ(to_cycles(core.busy().at(11).miss_buffers_full), 200);
}

// A pointer chase: 1000 steps of 200 cycles; the last ones' time is not waited for (the program
// ends), at most a reorder buffer of 48 steps.
TEST(IntervalCore, LoadsThatNeedEachOthersValuesDoNotOverlap) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  for (int i = 0; i < 1000; ++i) {
    core.block(block);
    core.load(7, from_memory(), 7);
  }
  EXPECT_GE(to_cycles(core.now()), 950 * 200);
  EXPECT_LE(to_cycles(core.now()), 1000 * 200 + 1000);
  EXPECT_GE(stalled(core, load_memory), to_cycles(core.now()) - 1000);
}

TEST(IntervalCore, ValueOfAHitWaitsForTheMissItDependsOn) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  core.block(block);
  core.load(1, from_memory());     // 201
  core.load(2, Outcome(), 1);      // an L1 hit: 205
  core.load(3, from_memory(), 2);  // 405
  for (int i = 1; i < 1000; ++i) core.block(block);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 405 - 49 + 1000);
}

TEST(IntervalCore, MemoryPassesItsLinesOneByOne) {
  Machine machine = simple_machine();
  machine.memory.bytes_per_cycle = 4;  // a line every 16 cycles
  machine.core.miss_buffers = 100;
  IntervalCore core(machine);
  const BlockCycles block = make_block(4);
  for (int i = 0; i < 10000; ++i) {
    core.block(block);
    core.load(7, from_memory());
  }
  EXPECT_NEAR(to_cycles(core.now()), 160000, 160000 * 0.02);
  EXPECT_GT(stalled(core, bandwidth_saturation), 140000);
}

TEST(IntervalCore, PrefetchedLinesNeedTheMemoryToo) {
  Machine machine = simple_machine();
  machine.memory.bytes_per_cycle = 4;
  IntervalCore core(machine);
  const BlockCycles block = make_block(4);
  Outcome outcome;  // an L1 hit that sets off a prefetch
  outcome.prefetched = true;
  outcome.memory_lines = 1;
  for (int i = 0; i < 10000; ++i) {
    core.block(block);
    core.load(7, outcome);
  }
  EXPECT_NEAR(to_cycles(core.now()), 160000, 160000 * 0.02);
}

TEST(IntervalCore, MispredictionsCostTheirPenaltyAndTheWaitForTheirValue) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  core.block(block);
  core.branch(5, Misprediction::direction);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 1 + 14);
  core.branch(5, Misprediction::late_target);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 1 + 14 + 7);
  core.load(7, from_memory());
  core.branch(5, Misprediction::direction, 7);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 22 + 200 + 14);
  EXPECT_DOUBLE_EQ(to_cycles(core.busy().at(5).wrong_path), 200);
  EXPECT_DOUBLE_EQ(stalled(core, branch_misprediction), 14 + 7 + 214);
}

// Four stores a block, one leaves per cycle: a block takes four cycles once the queue is full.
TEST(IntervalCore, StoreBurstFillsTheQueue) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  for (int i = 0; i < 1000; ++i) {
    core.block(block);
    for (Site site = 1; site <= 4; ++site) core.store(site, Outcome());
  }
  EXPECT_NEAR(to_cycles(core.now()), 4000, 50);
  EXPECT_NEAR(stalled(core, store_saturation), 3000, 50);
}

TEST(IntervalCore, StoresThatWaitForALoadToRetireAreTheLoadsTime) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  core.block(block);
  core.load(7, from_memory());
  for (int i = 0; i < 48; ++i) core.store(1, Outcome());
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 1);
  core.store(1, Outcome());  // waits for the first, which waits for the load
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 201);
  EXPECT_DOUBLE_EQ(stalled(core, load_memory), 200);
  EXPECT_DOUBLE_EQ(stalled(core, store_saturation), 0);
}

TEST(IntervalCore, FetchMissesAreHiddenByWhatIsFetchedAhead) {
  IntervalCore core(simple_machine());  // 24 uops ahead: 6 cycles
  const BlockCycles block = make_block(40);
  core.block(block);
  core.fetch(3, from(DataSource::l2, 14));
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 10 + 14 - 6);
  core.fetch(4, from(DataSource::l2, 14));  // nothing was fetched ahead since
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 18 + 14);
  EXPECT_DOUBLE_EQ(stalled(core, instruction_starvation), 8 + 14);
}

TEST(IntervalCore, TranslationIsApartFromTheLoadsLatency) {
  IntervalCore core(simple_machine());
  const BlockCycles block = make_block(4);
  core.block(block);
  Outcome outcome = from_memory();
  outcome.translation = Translation::walk;
  outcome.walk_cycles = 30;
  core.load(7, outcome);
  for (int i = 1; i < 1000; ++i) core.block(block);
  EXPECT_DOUBLE_EQ(to_cycles(core.now()), 1000 + 182);
  EXPECT_DOUBLE_EQ(stalled(core, load_translation), 30);
  EXPECT_DOUBLE_EQ(stalled(core, load_memory), 152);
}

TEST(IntervalCore, EveryTickBelongsToABlockOrAStall) {
  std::mt19937 random(6);
  Machine machine;
  machine.core.load_queue = 20;
  IntervalCore core(machine);
  Ticks blocks = 0;
  for (int i = 0; i < 20000; ++i) {
    const BlockCycles block = make_block(1 + static_cast<uint32_t>(random() % 60));
    core.block(block);
    blocks += block.total;
    const Site site = 1 + static_cast<Site>(random() % 50);
    const auto source = static_cast<DataSource>(random() % kDataSources);
    Outcome outcome = from(source, static_cast<uint16_t>(random() % 300));
    outcome.memory_lines = random() % 4;
    outcome.walk_cycles = random() % 4 == 0 ? 40 : 0;
    if (random() % 2 == 0) core.load(site, outcome, static_cast<Site>(random() % 50));
    if (random() % 3 == 0) core.store(site, random() % 2 == 0 ? Outcome() : outcome);
    if (random() % 9 == 0) core.fetch(site, outcome);
    core.branch(site, static_cast<Misprediction>(random() % 20 < 5 ? random() % 5 : 0), site);
  }
  Ticks stalls = 0;
  for (const auto& [site, parts] : core.stalls()) {
    stalls += parts.total();
    EXPECT_EQ(parts.total(), parts.stalled());
  }
  EXPECT_EQ(blocks + stalls, core.now());
}

}  // namespace
}  // namespace culprit::simulate
