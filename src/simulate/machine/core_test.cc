#include "simulate/machine/core.h"

#include <gtest/gtest.h>
#include <random>

#include "simulate/machine/test_core.h"

namespace culprit::simulate {
namespace {

using enum CycleClass;

// The load is uop 1, dispatched at cycle 0.25; its data come at 200.25. Uop 193, due at 48.25, is
// the first that finds the reorder buffer full. Karkhanis and Smith: latency - buffer / width =
// 200 - 192 / 4 = 152.
TEST(IntervalCore, IsolatedMissExposesWhatTheReorderBufferDoesNotHide) {
  Clock clock(simple_machine());
  const BlockCycles first = load_block();
  const BlockCycles others = make_block(4);
  clock.run(first);
  clock.core.load(0, from_memory());
  clock.run(others, 999);
  EXPECT_DOUBLE_EQ(clock.now(), 1000 + 152);
  EXPECT_DOUBLE_EQ(clock.stalled(1, load_memory), 152);
}

TEST(IntervalCore, ShortLatencyIsHiddenIfThereAreEnoughMissBuffers) {
  for (const uint32_t buffers : {10U, 64U}) {
    MachineModel machine = simple_machine();
    machine.core.miss_buffers = buffers;
    Clock clock(machine);
    const BlockCycles block = load_block();
    for (int i = 0; i < 100; ++i) {
      clock.run(block);
      clock.core.load(0, from(DataSource::l3, 40));
    }
    // 48 blocks fit behind a load of 40 cycles. But ten buffers serve ten loads in 40 cycles:
    // block 100 waits for load 52, the second of the sixth ten, done at 1.25 + 6 x 40; its own
    // other uops take 0.75.
    EXPECT_DOUBLE_EQ(clock.now(), buffers == 64 ? 100 : 242);
    EXPECT_DOUBLE_EQ(clock.stalled(bandwidth_saturation) + clock.stalled(load_l3),
                     buffers == 64 ? 0 : 142);
  }
}

TEST(IntervalCore, MissesInOneWindowOverlap) {
  Clock clock(simple_machine());
  const BlockCycles loads = make_loads(10);
  const BlockCycles others = make_block(4);
  clock.run(loads);
  for (uint32_t i = 0; i < 10; ++i) clock.core.load(i, from_memory());
  clock.run(others, 1000);
  EXPECT_DOUBLE_EQ(clock.now(), 2.5 + 1000 + 152);
}

// Load 11 gets the buffer of load 1 at 200.25, 197.5 cycles after its dispatch; the wait for it
// comes after the wait for load 1, 10 uops (2.5 cycles) later.
TEST(IntervalCore, MoreMissesThanBuffersTakeTurns) {
  Clock clock(simple_machine());
  const BlockCycles loads = make_loads(20);
  const BlockCycles others = make_block(4);
  clock.run(loads);
  for (uint32_t i = 0; i < 20; ++i) clock.core.load(i, from_memory());
  clock.run(others, 1000);
  EXPECT_DOUBLE_EQ(clock.now(), 5 + 1000 + 152 + 197.5);
  EXPECT_DOUBLE_EQ(clock.stalled(load_memory), 152);
  EXPECT_DOUBLE_EQ(clock.stalled(bandwidth_saturation), 197.5);
  EXPECT_EQ(clock.sites[10].busy.miss_buffers_full, 0U);
  EXPECT_DOUBLE_EQ(to_cycles(clock.sites[11].busy.miss_buffers_full), 197.5);
}

// Three buffers, which loads 1 to 3 take from 0.25, 0.5 and 0.75 on, until 100.25, 400.5 and
// 300.75. Load 4 gets the first one, until 150.25; load 5 the same, until 650.25; load 6 that of
// load 3.
TEST(IntervalCore, MissGetsTheBufferThatIsFreeFirst) {
  MachineModel machine = simple_machine();
  machine.core.miss_buffers = 3;
  Clock clock(machine);
  const BlockCycles loads = make_loads(6);
  clock.run(loads);
  const std::vector<uint16_t> latencies = {100, 400, 300, 50, 500, 10};
  for (uint32_t i = 0; i < 6; ++i) clock.core.load(i, from(DataSource::l2, latencies[i]));
  const std::vector<double> waits = {0, 0, 0, 99.25, 149, 299.25};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_DOUBLE_EQ(to_cycles(clock.sites[i + 1].busy.miss_buffers_full), waits[i]) << i;
  }
}

// A pointer chase: 1000 steps of 200 cycles, 4 of which an L1 hit would take, too: one of these is
// the block's own, the others are the chain's. The last ones' time is not waited for (the program
// ends), at most a reorder buffer of 48 steps.
TEST(IntervalCore, LoadsThatNeedEachOthersValuesDoNotOverlap) {
  Clock clock(simple_machine());
  std::vector<InstructionCosts> instructions = plain(4);
  instructions[0] = make_load(3, 3);
  const BlockCycles block = make_block(instructions);
  for (int i = 0; i < 1000; ++i) {
    clock.run(block);
    clock.core.load(0, from_memory());
  }
  EXPECT_GE(clock.now(), 950 * 200);
  EXPECT_LE(clock.now(), 1000 * 200 + 1000);
  EXPECT_NEAR(clock.stalled(load_memory), 196.0 / 200 * clock.now(), 1000);
  EXPECT_NEAR(clock.stalled(serialization), 3.0 / 200 * clock.now(), 100);
}

// 0.25 + 200; an L1 hit's 4; 200: the third load is done at 404.25. Uop 195, due at 48.75, waits
// for it.
TEST(IntervalCore, ValueOfAHitWaitsForTheMissItDependsOn) {
  Clock clock(simple_machine());
  const BlockCycles first = make_block({make_load(1), make_load(2, 1), make_load(3, 2), {}});
  const BlockCycles others = make_block(4);
  clock.run(first);
  clock.core.load(0, from_memory());
  clock.core.load(2, from_memory());
  clock.run(others, 999);
  EXPECT_DOUBLE_EQ(clock.now(), 404.25 - 48.75 + 1000);
}

/// Cycles per block of a long loop of it.
double per_block(const BlockCycles& block) {
  Clock clock(simple_machine());
  clock.run(block, 10000);
  return clock.now() / 10000;
}

// Four additions of one cycle: in a row 4 cycles, side by side 1. The last reorder buffer is not
// waited for: 48 blocks of 10,000.
TEST(IntervalCore, ChainsOfOperationsTakeTheirLatency) {
  const auto add = [](Register reg) { return make_step(reg, 1); };
  EXPECT_NEAR(per_block(make_block({add(1), add(1), add(1), add(1)})), 4, 0.02);
  EXPECT_DOUBLE_EQ(per_block(make_block({add(1), add(2), add(3), add(4)})), 1);
  EXPECT_NEAR(per_block(make_block({add(1), add(1), add(2), add(2)})), 2, 0.02);
  EXPECT_NEAR(per_block(make_block({make_step(1, 3), add(2), add(3), add(4)})), 3, 0.02);
}

TEST(IntervalCore, ChainsGoThroughSeveralBlocks) {
  const BlockCycles one = make_block({make_step(1, 3), {}});
  const BlockCycles two = make_block({make_step(1, 4), {}});
  Clock clock(simple_machine());
  for (int i = 0; i < 10000; ++i) {
    clock.run(one);
    clock.run(two);
  }
  EXPECT_NEAR(clock.now() / 10000, 7, 0.04);
}

TEST(IntervalCore, ChainsAreSerializationAndDivisionsLatency) {
  for (const bool divides : {false, true}) {
    InstructionCosts step = make_step(1, 20);
    step.divider_cycles = divides ? 6 : 0;
    const BlockCycles block = make_block({step, {}, {}, {}});
    Clock clock(simple_machine());
    clock.run(block, 1000);
    // The block itself takes 6 cycles by its divider, or 1.
    EXPECT_NEAR(clock.now(), 20000, 1000);
    EXPECT_NEAR(clock.stalled(1, divides ? instruction_latency : serialization),
                divides ? 14000 : 19000, 1000);
  }
}

// ldr x0, [x1], #8: x1 is there for the next round at once, though x0 takes a load's time.
TEST(IntervalCore, AddressesThatMoveOnDoNotWaitForTheLoad) {
  InstructionCosts load = make_load(1);
  load.addresses[0] = load.updates = 2;
  EXPECT_DOUBLE_EQ(per_block(make_block({load, {}, {}, {}})), 1);
  load.updates = kNoRegister;
  load.writes[1] = 2;
  EXPECT_NEAR(per_block(make_block({load, {}, {}, {}})), 4, 0.03);
}

// mov mem, %reg; add $1, %reg; mov %reg, mem; and add $1, mem: an L1 hit's 4 cycles and 1.
TEST(IntervalCore, ValuesGoThroughMemory) {
  InstructionCosts store;
  store.stores = 1;
  store.reads[0] = 1;
  const BlockCycles apart = make_block({make_load(1), make_step(1, 1), store, {}});
  InstructionCosts add = make_load();
  add.latency_cycles = 1;
  const BlockCycles together = make_block({add, {}, {}, {}});
  for (const bool is_one : {false, true}) {
    for (const uint64_t step_bytes : {0U, 8U}) {  // the same word, or another each time
      Clock clock(simple_machine());
      for (uint64_t i = 0; i < 10000; ++i) {
        clock.run(is_one ? together : apart);
        const uint64_t address = 0x1000 + i * step_bytes;
        clock.core.load(0, Outcome(), address);
        clock.core.store(is_one ? 0 : 2, Outcome(), address);
      }
      EXPECT_NEAR(clock.now() / 10000, step_bytes == 0 ? 5 : 1, 0.05);
    }
  }
}

// add $1, mem, on a line that another core takes away each time: 100 cycles until it is back, 1 for
// the sum, and only then the next one. On lines of their own the ten miss buffers overlap.
TEST(IntervalCore, LostLineIsAskedForAfterTheStoreBeforeIt) {
  InstructionCosts add = make_load();
  add.latency_cycles = 1;
  const BlockCycles block = make_block({add, {}, {}, {}});
  for (const uint64_t step_bytes : {0U, 64U}) {
    Clock clock(simple_machine());
    for (uint64_t i = 0; i < 1000; ++i) {
      clock.run(block);
      const uint64_t address = 0x1000 + i * step_bytes;
      clock.core.load(0, from(DataSource::other_core_modified, 100), address);
      clock.core.store(0, Outcome(), address);
    }
    EXPECT_NEAR(clock.now() / 1000, step_bytes == 0 ? 101 : 10, step_bytes == 0 ? 5 : 0.5);
  }
}

// 16 bytes a cycle: a line every four, whatever its latency, where a block takes one.
TEST(IntervalCore, L2PassesItsLinesOneByOne) {
  MachineModel machine = simple_machine();
  machine.memory.l2_bytes_per_cycle = 16;
  machine.core.miss_buffers = 100;
  Clock clock(machine);
  const BlockCycles block = load_block();
  for (int i = 0; i < 10000; ++i) {
    clock.run(block);
    clock.core.load(0, from(DataSource::l2, 14));
  }
  EXPECT_NEAR(clock.now(), 40000, 40000 * 0.02);
  EXPECT_GT(clock.stalled(bandwidth_saturation), 28000);
}

// Lines 4096 bytes apart are of one set of 64, which takes one in ten cycles; of all sets in turn,
// no line finds its own busy. Loads wait for it as for a slower L2, stores fill their queue.
TEST(IntervalCore, SetTakesItsLinesOneByOne) {
  MachineModel machine = simple_machine();
  machine.memory.l1d_set_cycles = 10;
  machine.core.miss_buffers = 100;
  InstructionCosts store;
  store.stores = 1;
  const BlockCycles blocks[] = {load_block(), make_block({store, {}, {}, {}})};
  for (const bool is_store : {false, true}) {
    for (const uint64_t step_bytes : {4096U, 64U}) {
      Clock clock(machine);
      for (uint64_t i = 0; i < 10000; ++i) {
        clock.run(blocks[is_store ? 1 : 0]);
        const uint64_t address = 0x100000 + i * step_bytes;
        if (is_store) clock.core.store(0, from(DataSource::l2, 14), address);
        if (!is_store) clock.core.load(0, from(DataSource::l2, 14), address);
      }
      const double expected = step_bytes == 4096 ? 100000 : 10000;
      EXPECT_NEAR(clock.now(), expected, expected * 0.02) << is_store << ' ' << step_bytes;
      if (step_bytes != 4096) continue;
      const CycleClass waits = is_store ? store_saturation : load_l2;
      EXPECT_GT(clock.stalled(waits), 88000) << is_store;
    }
  }
}

TEST(IntervalCore, MemoryPassesItsLinesOneByOne) {
  MachineModel machine = simple_machine();
  machine.memory.bytes_per_cycle = 4;  // a line every 16 cycles
  machine.core.miss_buffers = 100;
  Clock clock(machine);
  const BlockCycles block = load_block();
  for (int i = 0; i < 10000; ++i) {
    clock.run(block);
    clock.core.load(0, from_memory());
  }
  EXPECT_NEAR(clock.now(), 160000, 160000 * 0.02);
  EXPECT_GT(clock.stalled(bandwidth_saturation), 140000);
}

// Lines from the shared level, fetched ahead into L2: no latency, but 16 cycles each on the way.
TEST(IntervalCore, LinesOfTheSharedLevelPassOneByOne) {
  MachineModel machine = simple_machine();
  machine.memory.shared_bytes_per_cycle = 4;
  Clock clock(machine);
  const BlockCycles block = load_block();
  Outcome outcome = from(DataSource::l2, 14);
  outcome.shared_lines = 1;
  for (int i = 0; i < 10000; ++i) {
    clock.run(block);
    clock.core.load(0, outcome);
  }
  EXPECT_NEAR(clock.now(), 160000, 160000 * 0.02);
  EXPECT_GT(clock.stalled(bandwidth_saturation), 140000);
}

TEST(IntervalCore, PrefetchedLinesNeedTheMemoryToo) {
  MachineModel machine = simple_machine();
  machine.memory.bytes_per_cycle = 4;
  Clock clock(machine);
  const BlockCycles block = load_block();
  Outcome outcome;  // an L1 hit that sets off a prefetch
  outcome.prefetched = true;
  outcome.memory_lines = 1;
  for (int i = 0; i < 10000; ++i) {
    clock.run(block);
    clock.core.load(0, outcome);
  }
  EXPECT_NEAR(clock.now(), 160000, 160000 * 0.02);
}

TEST(IntervalCore, MispredictionsCostTheirPenaltyAndTheWaitForTheirValue) {
  Clock clock(simple_machine());
  const BlockCycles plain_block = make_block(4);
  clock.run(plain_block);
  clock.core.end_block();
  clock.core.branch(5, Misprediction::direction);
  EXPECT_DOUBLE_EQ(clock.now(), 1 + 14);
  clock.core.branch(5, Misprediction::late_target);
  EXPECT_DOUBLE_EQ(clock.now(), 1 + 14 + 7);
  // The load is dispatched at 22.25, the branch that needs its value at 23.
  InstructionCosts branch;
  branch.reads[0] = 1;
  const BlockCycles block = make_block({make_load(1), {}, {}, branch});
  clock.run(block);
  clock.core.load(0, from_memory());
  clock.core.end_block();
  clock.core.branch(5, Misprediction::direction);
  EXPECT_DOUBLE_EQ(clock.now(), 222.25 + 14);
  EXPECT_DOUBLE_EQ(to_cycles(clock.sites[5].busy.wrong_path), 222.25 - 23);
  EXPECT_DOUBLE_EQ(clock.stalled(branch_misprediction), 14 + 7 + 14);
  // The branch waits from 23 on, for all of the load's 200 cycles but the 4 of an L1 hit, and for
  // what is left of these.
  EXPECT_DOUBLE_EQ(clock.stalled(1, load_memory), 196);
  EXPECT_DOUBLE_EQ(clock.stalled(1, serialization), 222.25 - 23 - 196);
}

// The load of memory is done at 200.25. That from L2 is hidden behind it, done at 0.5 + 14; the
// branch, dispatched at 0.75, needs it. Of its 14 cycles 10 are beyond an L1 hit.
TEST(IntervalCore, MispredictedBranchWaitsForItsLoadAlsoBehindALongerOne) {
  Clock clock(simple_machine());
  InstructionCosts branch;
  branch.reads[0] = 1;
  const BlockCycles block = make_block({make_load(2), make_load(1), branch});
  clock.run(block);
  clock.core.load(0, from_memory());
  clock.core.load(1, from(DataSource::l2, 14));
  clock.core.end_block();
  clock.core.branch(5, Misprediction::direction);
  EXPECT_DOUBLE_EQ(clock.now(), 14.5 + 14);
  EXPECT_DOUBLE_EQ(clock.stalled(2, load_l2), 10);
  EXPECT_DOUBLE_EQ(clock.stalled(5, branch_misprediction), 14.5 - 0.75 - 10 + 14);
  EXPECT_DOUBLE_EQ(clock.stalled(load_memory), 0);
}

// A list's field is loaded, and then its next pointer, from the same line: 1000 times 200 cycles,
// as if the pointer had missed itself.
TEST(IntervalCore, SecondLoadOfALineWaitsForTheFirst) {
  Clock clock(simple_machine());
  const BlockCycles block = make_block({make_load(1, 3), make_load(3, 3)});
  for (uint64_t i = 1; i <= 1000; ++i) {
    clock.run(block);
    clock.core.load(0, from_memory(), i * 4096 + 8);
    clock.core.load(1, Outcome(), i * 4096);
  }
  EXPECT_GE(clock.now(), 900 * 200);
  EXPECT_LE(clock.now(), 1000 * 200 + 1000);
  EXPECT_NEAR(clock.stalled(load_memory), 196.0 / 200 * clock.now(), 1000);
}

// Asked for at 0.25, the line comes at 200.25. The load that uses it is dispatched at 100.25, and
// uop 193 from there is due at 148.25.
TEST(IntervalCore, LinePrefetchedLateIsWaitedFor) {
  Clock clock(simple_machine());
  const BlockCycles block = load_block();
  const BlockCycles others = make_block(4);
  clock.run(block);
  clock.core.load(0, from(DataSource::l2, 14), 0x10000);
  PrefetchedLines lines;
  lines.add({0x10040 / 64, DataSource::memory, 200});
  clock.core.prefetch(lines);
  EXPECT_EQ(lines.count, 0U);
  clock.run(others, 99);
  clock.run(block);
  clock.core.load(0, from(DataSource::l2, 14), 0x10040);
  clock.run(others, 1000);
  EXPECT_DOUBLE_EQ(clock.now(), 1 + 99 + 1 + 1000 + 52);
  EXPECT_DOUBLE_EQ(clock.stalled(1, load_memory), 52);
}

TEST(IntervalCore, FollowsOneTakenBranchPerCycle) {
  Clock clock(simple_machine());
  const BlockCycles block = make_block(2);  // half a cycle
  for (int i = 0; i < 1000; ++i) {
    clock.run(block);
    clock.core.end_block();
    clock.core.taken(7);
  }
  EXPECT_NEAR(clock.now(), 1000, 1);
  EXPECT_NEAR(clock.stalled(7, instruction_starvation), 500, 1);
}

TEST(IntervalCore, TakenBranchesOfCallsAreTheirOverhead) {
  Clock clock(simple_machine());
  const BlockCycles block = make_block(2);  // half a cycle
  for (int i = 0; i < 1000; ++i) {
    clock.run(block);
    clock.core.end_block();
    clock.core.taken(7, true);
  }
  EXPECT_NEAR(clock.now(), 1000, 1);
  EXPECT_NEAR(clock.stalled(7, call_overhead), 500, 1);
  EXPECT_EQ(clock.stalled(7, instruction_starvation), 0);
}

TEST(IntervalCore, FetchMissesAreHiddenByWhatIsFetchedAhead) {
  Clock clock(simple_machine());  // 24 uops ahead: 6 cycles
  const BlockCycles block = make_block(40);
  clock.run(block);
  clock.core.end_block();
  clock.core.fetch(3, from(DataSource::l2, 14));
  EXPECT_DOUBLE_EQ(clock.now(), 10 + 14 - 6);
  clock.core.fetch(4, from(DataSource::l2, 14));  // nothing was fetched ahead since
  EXPECT_DOUBLE_EQ(clock.now(), 18 + 14);
  EXPECT_DOUBLE_EQ(clock.stalled(instruction_starvation), 8 + 14);
}

TEST(IntervalCore, TranslationIsApartFromTheLoadsLatency) {
  Clock clock(simple_machine());
  const BlockCycles first = load_block();
  const BlockCycles others = make_block(4);
  clock.run(first);
  Outcome outcome = from_memory();
  outcome.translation = TlbLookup::walk;
  outcome.walk_cycles = 30;
  clock.core.load(0, outcome);
  clock.run(others, 999);
  EXPECT_DOUBLE_EQ(clock.now(), 1000 + 182);
  EXPECT_DOUBLE_EQ(clock.stalled(load_translation), 30);
  EXPECT_DOUBLE_EQ(clock.stalled(load_memory), 152);
}

/// Any instruction, on any of five registers.
InstructionCosts make_any(std::mt19937& random) {
  InstructionCosts one;
  one.uops = random() % 8 == 0 ? 0 : 1;
  one.loads = random() % 2;
  one.latency_cycles = static_cast<double>(random() % 9);
  one.divider_cycles = random() % 16 == 0 ? 5 : 0;
  one.reads[0] = static_cast<Register>(random() % 5);
  one.addresses[0] = static_cast<Register>(random() % 5);
  one.writes[0] = static_cast<Register>(random() % 5);
  return one;
}

TEST(IntervalCore, EveryTickBelongsToABlockOrAStall) {
  std::mt19937 random(6);
  MachineModel machine;
  machine.core.load_queue = 20;
  Clock clock(machine);
  std::vector<BlockCycles> kinds;
  for (int i = 0; i < 100; ++i) {
    std::vector<InstructionCosts> instructions(1 + random() % 60);
    for (InstructionCosts& one : instructions) one = make_any(random);
    kinds.push_back(make_block(instructions));
  }
  Ticks blocks = 0;
  for (int i = 0; i < 20000; ++i) {
    const BlockCycles& block = kinds[random() % kinds.size()];
    clock.run(block);
    blocks += block.total;
    Outcome outcome = from(static_cast<DataSource>(random() % kDataSources),
                           static_cast<uint16_t>(random() % 300));
    outcome.memory_lines = random() % 4;
    outcome.walk_cycles = random() % 4 == 0 ? 40 : 0;
    for (uint32_t step = 0; step < block.steps.size(); ++step) {
      if (block.steps[step].is_load && random() % 9 == 0) clock.core.load(step, outcome);
      if (random() % 9 == 0) clock.core.store(step, random() % 2 == 0 ? Outcome() : outcome);
    }
    clock.core.end_block();
    clock.core.branch(3, static_cast<Misprediction>(random() % 20 < 5 ? random() % 5 : 0));
    if (random() % 2 == 0) clock.core.taken(3);
    if (random() % 9 == 0) clock.core.fetch(4, outcome);
  }
  Ticks stalls = 0;
  for (const SiteTicks& site : clock.sites) stalls += site.stalls.total();
  EXPECT_EQ(blocks + stalls, clock.core.now());
}

}  // namespace
}  // namespace culprit::simulate
