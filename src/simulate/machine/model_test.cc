// Caches, predictor and time together, on traces whose cycles can be worked out by hand.

#include "simulate/machine/core.h"
#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

using enum CycleClass;

/// A machine whose levels are small, with latencies 4, 14, 40, 200 and no prefetch.
MachineModel model_machine() {
  MachineModel machine = plain_machine(4 << 10, 8, 256 << 10, 16);
  machine.l2.size_bytes = 32 << 10;
  machine.l2.ways = 8;
  machine.l1d.latency_cycles = 4;
  machine.l2.latency_cycles = 14;
  machine.l3.latency_cycles = 40;
  machine.memory.latency_cycles = 200;
  machine.tlb.data = {4096, 4096};
  return machine;
}

struct Model {
  explicit Model(const MachineModel& machine)
      : memory(make_hierarchy(machine)), caches(memory->add_core()), core(machine, sites.data()) {}

  std::unique_ptr<Hierarchy> memory;
  CoreState& caches;
  std::vector<SiteTicks> sites = std::vector<SiteTicks>(2048);
  IntervalCore core;
  Ticks blocks = 0;

  void run(const BlockCycles& block) {
    core.end_block();
    core.begin_block(block);
    blocks += block.total;
  }
  Ticks now() {
    core.end_block();
    return core.now();
  }
  double stalled(CycleClass kind) {
    Ticks sum = 0;
    for (const SiteTicks& site : sites) sum += site.stalls[kind];
    return to_cycles(sum);
  }
};

InstructionCosts load_from(Register address, Register to) {
  InstructionCosts load;
  load.loads = 1;
  load.latency_cycles = 0;
  load.addresses[0] = address;
  load.writes[0] = to;
  return load;
}

/// mov (%rax),%rax; dec; jnz
BlockCycles chase_block(const MachineModel& machine) {
  std::vector<InstructionCosts> instructions(3);
  instructions[0] = load_from(1, 1);
  return compute_block_cycles(instructions, {}, machine.core);
}

// Case 1 of papers/hierarchical-cycle-accounting: a pointer walks through buffers of 2 KiB,
// 16 KiB, 128 KiB and 2 MiB, 50,000 steps each, that are in L1D, L2, L3 and memory: steps take
// 4, 14, 40 and 200 cycles. Warm-up: one walk through each.
TEST(Model, PointerWalkSplitsItsLatencyByLevel) {
  const MachineModel machine = model_machine();
  Model model(machine);
  const BlockCycles block = chase_block(machine);
  constexpr uint64_t steps = 50000;
  Ticks begin = 0;
  const uint64_t sizes[] = {2 << 10, 16 << 10, 128 << 10, 2 << 20};
  const double expected[] = {4, 14, 40, 200};
  for (int level = 0; level < 4; ++level) {
    for (uint64_t at = 0; at < sizes[level]; at += 64) load(model.caches, at);
    begin = model.now();
    for (uint64_t i = 0; i < steps; ++i) {
      model.run(block);
      model.core.load(0, load(model.caches, i * 64 % sizes[level]));
    }
    const double cycles = to_cycles(model.now() - begin) / steps;
    EXPECT_NEAR(cycles, expected[level], 0.02 * expected[level] + 0.02) << level;
  }
  // What the chain of L1 hits would take, 4 cycles a step, is the chain's.
  EXPECT_NEAR(model.stalled(load_l2), steps * 10, steps * 0.5);
  EXPECT_NEAR(model.stalled(load_l3), steps * 36, steps * 1.0);
  EXPECT_NEAR(model.stalled(load_memory), steps * 196, steps * 4.0);
  EXPECT_NEAR(model.stalled(load_translation), 0, 512 * 40);
  Ticks stalls = 0;
  for (const SiteTicks& site : model.sites) stalls += site.stalls.total();
  EXPECT_EQ(model.blocks + stalls, model.now());
}

// Four independent walks through memory: steps overlap, four times as fast.
TEST(Model, FourIndependentWalksOverlap) {
  const MachineModel machine = model_machine();
  Model model(machine);
  std::vector<InstructionCosts> instructions(6);
  for (Register i = 0; i < 4; ++i) instructions[i] = load_from(i, i);
  const BlockCycles block = compute_block_cycles(instructions, {}, machine.core);
  constexpr uint64_t steps = 20000;
  for (uint64_t i = 0; i < steps; ++i) {
    model.run(block);
    for (Site walk = 1; walk <= 4; ++walk) {
      const uint64_t address = (uint64_t{walk} << 24) + i * 64;
      model.core.load(walk - 1, load(model.caches, address, 8, walk));
    }
  }
  // 64 translations of 4 x 64 lines add up to 4 %: one walk per 64 steps, 40 cycles.
  EXPECT_NEAR(to_cycles(model.now()) / steps, 200, 10);
}

// Sum of an array in memory: a line every 8 loads, 64 bytes at 8 bytes a cycle. Prefetched or
// not, it cannot be faster than 8 cycles a line; the loop alone would take 4.
TEST(Model, StreamIsAsFastAsTheMemory) {
  for (const bool prefetch : {false, true}) {
    MachineModel machine = model_machine();
    machine.memory.bytes_per_cycle = 8;
    machine.core.miss_buffers = 32;
    machine.core.load_queue = 192;
    machine.prefetch.stream = prefetch;
    machine.prefetch.stride = prefetch;
    Model model(machine);
    std::vector<InstructionCosts> instructions(2);
    instructions[0].loads = 1;
    const BlockCycles block = compute_block_cycles(instructions, {}, machine.core);
    constexpr uint64_t lines = 20000;
    for (uint64_t i = 0; i < lines * 8; ++i) {
      model.run(block);
      model.core.load(0, load(model.caches, i * 8));
    }
    const double per_line = to_cycles(model.now()) / lines;
    if (prefetch) {
      // Each page begins with lines that were not fetched ahead, and a walk of 39 cycles: at
      // most 200 + 39 - 48 cycles in which memory rests, for 64 lines.
      EXPECT_GE(per_line, 8);
      EXPECT_LE(per_line, 8 + (200 + 39 - 48) / 64.0);
      // A line would be 8 - 4 cycles late without those.
      EXPECT_GT(model.stalled(bandwidth_saturation), lines * 2);
      EXPECT_LT(model.stalled(bandwidth_saturation), lines * 4);
    } else {
      // 12 lines fit into the reorder buffer (192 uops, 16 a line): 200 cycles for 12 lines,
      // and a walk for 64.
      EXPECT_NEAR(per_line, 200.0 / 12 + 39 / 64.0, 0.5);
      EXPECT_GT(model.stalled(load_memory), 10 * model.stalled(bandwidth_saturation));
    }
  }
}

// Straight code of 64 KiB, again and again: twice the L1I; each line of 16 instructions comes
// from L2 and waits 14 cycles but for what was fetched ahead while the line before ran (4).
TEST(Model, CodeLargerThanL1IStarves) {
  MachineModel machine = model_machine();
  machine.l1i = {32 << 10, 8};
  machine.l2.size_bytes = 256 << 10;
  machine.l3.size_bytes = 1 << 20;
  machine.tlb.instruction = {4096, 4096};
  Model model(machine);
  const BlockCycles block =
      compute_block_cycles(std::vector<InstructionCosts>(16), {}, machine.core);
  constexpr uint64_t lines = 1024;
  for (int round = 0; round < 10; ++round) {
    for (uint64_t line = 0; line < lines; ++line) {
      model.core.end_block();
      model.core.fetch(static_cast<Site>(line + 1), fetch(model.caches, line * 64, 64, 1));
      model.run(block);
    }
  }
  // The first of ten rounds comes from memory: 200 and, each 64 lines, a walk of 32 + 7.
  const double expected = 10.0 * lines * 4 + 9.0 * lines * 10 + lines * 196;
  EXPECT_NEAR(to_cycles(model.now()), expected, 0.01 * expected);
  EXPECT_NEAR(model.stalled(instruction_starvation), expected - 10.0 * lines * 4, 0.01 * expected);
}

}  // namespace
}  // namespace culprit::simulate
