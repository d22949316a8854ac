#include "simulate/machine/store_queue.h"

#include <gtest/gtest.h>

#include "simulate/machine/test_core.h"

namespace culprit::simulate {
namespace {

using enum CycleClass;

/// mov %reg, (slot); mov (slot), %reg
BlockCycles make_slot_block() {
  InstructionCosts store;
  store.stores = 1;
  store.reads[0] = 1;
  return make_block({store, make_load(1)});
}

// One chain of 1000 values through memory: 6 cycles each if the queue hands them over; none where
// the slot is renamed, and then stores leave one a cycle.
TEST(StoresOfACore, SlotsAreForwardedOrRenamed) {
  for (const bool is_renamed : {false, true}) {
    MachineModel machine = simple_machine();
    machine.core.store_forward_cycles = 6;
    machine.core.renamed_memory = is_renamed;
    Clock clock(machine);
    const BlockCycles block = make_slot_block();
    for (int i = 0; i < 1000; ++i) {
      clock.run(block);
      clock.core.store(0, Outcome(), 0x1000);
      clock.core.load(1, Outcome(), 0x1000);
    }
    EXPECT_NEAR(clock.now(), is_renamed ? 1000 : 6000, 600);
    EXPECT_DOUBLE_EQ(clock.stalled(load_forward_refused), 0);
  }
}

// The upper half is no slot of its own: it is handed over.
TEST(StoresOfACore, HalfASlotIsNotRenamed) {
  MachineModel machine = simple_machine();
  machine.core.store_forward_cycles = 6;
  machine.core.renamed_memory = true;
  Clock clock(machine);
  const BlockCycles block = make_slot_block();
  for (int i = 0; i < 1000; ++i) {
    clock.run(block);
    clock.core.store(0, Outcome(), 0x1000, 8);
    clock.core.load(1, Outcome(), 0x1004, 4);
  }
  EXPECT_NEAR(clock.now(), 6000, 600);
}

// Two stores, and a load of both: it waits 12 cycles after they have left, and the next round's
// stores leave after it is done, a cycle one after the other: 13 a round. A load of one of them,
// or of another word, does not wait.
TEST(StoresOfACore, ForwardingIsRefusedOfWhatTwoStoresWrote) {
  InstructionCosts store;
  store.stores = 1;
  const BlockCycles block = make_block({store, store, make_load(1)});
  struct Case {
    uint64_t address;
    uint32_t bytes;
    bool in_parts;
    double cycles_a_round;
  };
  for (const Case& one : {Case{0x1000, 8, false, 13}, Case{0x1000, 4, false, 2},
                          Case{0x1002, 4, false, 13}, Case{0x1008, 8, false, 2}}) {
    Clock clock(simple_machine());
    for (int i = 0; i < 1000; ++i) {
      clock.run(block);
      clock.core.store(0, Outcome(), 0x1000, 4);
      clock.core.store(1, Outcome(), 0x1004, 4);
      clock.core.load(2, Outcome(), one.address, one.bytes);
    }
    EXPECT_NEAR(clock.now(), one.cycles_a_round * 1000, one.cycles_a_round * 100)
        << one.address << ' ' << one.bytes;
  }
}

// A vector is told in two parts. Of one store, told the same way, it is handed over.
TEST(StoresOfACore, PartsOfALoadAreOfOneStoreOrRefused) {
  for (const bool is_one_store : {false, true}) {
    InstructionCosts store;
    store.stores = 1;
    Clock clock(simple_machine());
    const BlockCycles block = make_block({store, store, make_load(1)});
    for (int i = 0; i < 1000; ++i) {
      clock.run(block);
      clock.core.store(0, Outcome(), is_one_store ? 0x2000 : 0x1000, 8);
      clock.core.store(1, Outcome(), is_one_store ? 0x1000 : 0x1008, 8);
      if (is_one_store) clock.core.store_part(0x1008, 8);
      clock.core.load(2, Outcome(), 0x1000, 8);
      clock.core.load(2, Outcome(), 0x1008, 8, true);
    }
    EXPECT_NEAR(clock.now(), is_one_store ? 2000 : 13000, 600);
    EXPECT_EQ(clock.stalled(load_forward_refused) > 0, !is_one_store);
  }
}

// A chain of loads of 4 cycles, each behind a store 4096 bytes on: 7 more where the core compares
// twelve bits only.
TEST(StoresOfACore, LoadsTakeStoresOfOtherPagesForTheirs) {
  InstructionCosts store;
  store.stores = 1;
  store.reads[0] = 2;
  const BlockCycles block = make_block({store, make_load(1, 1)});
  for (const uint32_t alias_cycles : {0U, 7U}) {
    MachineModel machine = simple_machine();
    machine.core.alias_cycles = alias_cycles;
    Clock clock(machine);
    for (int i = 0; i < 1000; ++i) {
      clock.run(block);
      clock.core.store(0, Outcome(), 0x3000);
      clock.core.load(1, Outcome(), 0x2000);
    }
    EXPECT_NEAR(clock.now(), 1000 * (4 + alias_cycles), 600);
    EXPECT_EQ(clock.stalled(load_alias) > 0, alias_cycles != 0);
  }
}

// Four stores a block, one or two leave per cycle: a block takes four cycles, or two, once the
// queue is full.
TEST(StoresOfACore, StoreBurstFillsTheQueue) {
  for (const uint32_t per_cycle : {1U, 2U}) {
    MachineModel machine = simple_machine();
    machine.core.stores_per_cycle = per_cycle;
    Clock clock(machine);
    const BlockCycles block = make_block(4);
    for (int i = 0; i < 1000; ++i) {
      clock.run(block);
      for (uint32_t step = 0; step < 4; ++step) clock.core.store(step, Outcome());
    }
    EXPECT_NEAR(clock.now(), 4000 / per_cycle, 50);
    EXPECT_NEAR(clock.stalled(store_saturation), 4000 / per_cycle - 1000, 50);
  }
}

// Four instructions are a cycle, and 20 with a locked one, which is dispatched at their end. A
// store leaves the core while others run; a locked instruction and all behind it wait for the line.
TEST(StoresOfACore, LockedInstructionsWaitForTheirLine) {
  for (const bool is_locked : {false, true}) {
    Clock clock(simple_machine());
    std::vector<InstructionCosts> instructions = plain(4);
    instructions[0].stores = 1;
    instructions[0].exclusive_cycles = is_locked ? 20 : 0;
    const BlockCycles block = make_block(instructions);
    clock.run(block);
    clock.core.store(0, from(DataSource::other_core_modified, 100), 0x1000, 8, 1);
    EXPECT_DOUBLE_EQ(clock.now(), is_locked ? 120 : 1);
    EXPECT_DOUBLE_EQ(clock.stalled(1, load_other_core_modified), is_locked ? 100 : 0);
  }
}

// A load of the line, dispatched at 0.25, has asked for it: it is there at 200.25. The locked
// instruction, dispatched at the end of its block of 20 cycles, waits for the rest.
TEST(StoresOfACore, LockedInstructionsWaitForALineThatIsOnItsWay) {
  Clock clock(simple_machine());
  const BlockCycles load = load_block();
  std::vector<InstructionCosts> instructions = plain(4);
  instructions[0].stores = 1;
  instructions[0].exclusive_cycles = 20;
  const BlockCycles locked = make_block(instructions, 10);
  clock.run(load);
  clock.core.load(0, from_memory(), 0x1000);
  clock.run(locked);
  clock.core.store(0, Outcome(), 0x1000, 8, 10);
  EXPECT_DOUBLE_EQ(clock.now(), 200.25 + 0.75);
  EXPECT_DOUBLE_EQ(clock.stalled(10, load_memory), clock.now() - 21);
  EXPECT_DOUBLE_EQ(clock.stalled(serialization), 0);
}

// The load, dispatched at 0.25, is done at 200.25; until then no store leaves. 48 fit, the 49th is
// due at 13.25.
TEST(StoresOfACore, StoresThatWaitForALoadToRetireAreTheLoadsTime) {
  Clock clock(simple_machine());
  const BlockCycles first = load_block();
  const BlockCycles stores = make_block(4);
  clock.run(first);
  clock.core.load(0, from_memory());
  for (int i = 0; i < 12; ++i) {
    clock.run(stores);
    for (uint32_t step = 0; step < 4; ++step) clock.core.store(step, Outcome());
  }
  EXPECT_DOUBLE_EQ(clock.now(), 13);
  clock.run(stores);
  clock.core.store(0, Outcome());
  EXPECT_DOUBLE_EQ(clock.stalled(load_memory), 200.25 - 13.25);
  EXPECT_DOUBLE_EQ(clock.stalled(store_saturation), 0);
  EXPECT_DOUBLE_EQ(clock.now(), 14 + 187);
}

}  // namespace
}  // namespace culprit::simulate
