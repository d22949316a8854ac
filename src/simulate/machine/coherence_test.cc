#include <thread>
#include <vector>

#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

uint64_t sum_edges(CoreState& core, LineEdgeKind kind, Site from, Site to) {
  uint64_t sum = 0;
  for (const auto& [key, count] : core.tenures(Level::l1d).edges()) {
    if (key.kind == kind && key.from.site() == from && key.to.site() == to) sum += count;
  }
  return sum;
}

class Coherence : public testing::Test {
 protected:
  std::unique_ptr<Hierarchy> memory_ =
      make_hierarchy(plain_machine(32 << 10, 8, 1 << 20, 16), Locality::all);
  CoreState& first_ = memory_->add_core();
  CoreState& second_ = memory_->add_core();
};

TEST_F(Coherence, LineOfAnotherCoreIsCleanOrModified) {
  EXPECT_EQ(load_source(first_, 0), DataSource::memory);
  EXPECT_EQ(load_source(second_, 0), DataSource::other_core_clean);  // only the first had it
  EXPECT_TRUE(load(first_, 0).plain_hit());                          // and keeps it
  store(first_, 64);
  EXPECT_EQ(load_source(second_, 64), DataSource::other_core_modified);
  EXPECT_TRUE(load(first_, 64).plain_hit());
}

TEST_F(Coherence, WhatAllMayOnlyReadComesFromTheSharedLevel) {
  CoreState& third = memory_->add_core();
  load(first_, 0);
  load(second_, 0);
  EXPECT_EQ(load_source(third, 0), DataSource::l3);
}

TEST_F(Coherence, StoreTakesTheLineFromAllOthers) {
  load(first_, 0);
  load(second_, 0);
  const Outcome mine = store(second_, 0);  // it has the line, but may not write it
  EXPECT_TRUE(mine.upgraded);
  EXPECT_EQ(mine.source, DataSource::l1);
  EXPECT_GT(mine.latency_cycles, 0);
  EXPECT_TRUE(store(second_, 0).plain_hit());
  EXPECT_EQ(load_source(first_, 0), DataSource::other_core_modified);
  EXPECT_EQ(first_.traffic.taken_by_others, 1U);
  EXPECT_TRUE(store(second_, 0).upgraded);  // the first reads it now
}

TEST_F(Coherence, FirstStoreToALineThatNobodyElseHasIsPlain) {
  load(first_, 0);
  EXPECT_TRUE(store(first_, 0).plain_hit());
  EXPECT_EQ(load_source(second_, 0), DataSource::other_core_modified);
}

TEST(CoherenceOfTwoLevels, FirstStoreToALineThatOnlyL2HasIsToldToTheOthers) {
  const auto memory = make_hierarchy(tiny_machine(), Locality::off);
  CoreState& first = memory->add_core();
  CoreState& second = memory->add_core();
  load(first, 0);
  for (const uint64_t line : {2U, 4U}) load(first, line * 64);  // line 0 leaves L1D, not L2
  EXPECT_EQ(store(first, 0).source, DataSource::l2);
  EXPECT_EQ(load_source(second, 0), DataSource::other_core_modified);
}

TEST_F(Coherence, WrittenLineThatLeftItsCoreIsInTheSharedLevel) {
  store(first_, 0);
  for (uint64_t i = 1; i <= 8; ++i) load(first_, i * 4096);  // pushes line 0 out
  EXPECT_EQ(load_source(second_, 0), DataSource::l3);
}

// Two counters 8 bytes apart, each written 1000 times in turn: each store but the first takes
// the line from the other core, which used other bytes of it.
TEST_F(Coherence, FalseSharingIsOfOtherBytes) {
  uint64_t fetched = 0;
  for (int i = 0; i < 1000; ++i) {
    fetched += store(first_, 0, 8, 1).source == DataSource::other_core_modified ? 1 : 0;
    fetched += store(second_, 8, 8, 2).source == DataSource::other_core_modified ? 1 : 0;
  }
  EXPECT_EQ(fetched, 1999U);
  EXPECT_EQ(first_.traffic.taken_from_others + second_.traffic.taken_from_others, 1999U);
  memory_->finish();
  EXPECT_EQ(sum_edges(first_, LineEdgeKind::share_other_bytes, 1, 2), 1000U);
  EXPECT_EQ(sum_edges(second_, LineEdgeKind::share_other_bytes, 2, 1), 999U);
  EXPECT_EQ(sum_edges(first_, LineEdgeKind::share_same_bytes, 1, 2), 0U);
}

TEST_F(Coherence, PaddedCountersAreNotShared) {
  for (int i = 0; i < 1000; ++i) {
    store(first_, 0, 8, 1);
    store(second_, 64, 8, 2);
  }
  memory_->finish();
  EXPECT_EQ(sum_edges(first_, LineEdgeKind::share_other_bytes, 1, 2), 0U);
  EXPECT_EQ(first_.traffic.taken_by_others + second_.traffic.taken_by_others, 0U);
  EXPECT_EQ(first_.traffic.taken_from_others + second_.traffic.taken_from_others, 0U);
}

TEST_F(Coherence, TrueSharingIsOfTheSameBytes) {
  for (int i = 0; i < 100; ++i) {
    store(first_, 0, 8, 1);  // a lock or a counter
    store(second_, 0, 8, 2);
  }
  memory_->finish();
  EXPECT_EQ(sum_edges(first_, LineEdgeKind::share_same_bytes, 1, 2), 100U);
  EXPECT_EQ(sum_edges(first_, LineEdgeKind::share_other_bytes, 1, 2), 0U);
}

TEST_F(Coherence, ReaderOfWhatAnotherWritesIsSharingToo) {
  for (int i = 0; i < 10; ++i) {
    store(first_, 0, 8, 1);
    load(second_, 0, 8, 2);
  }
  memory_->finish();
  EXPECT_EQ(sum_edges(first_, LineEdgeKind::share_same_bytes, 1, 2), 10U);
}

TEST(CoherenceInclusive, SharedLevelTakesItsLinesOutOfAllCores) {
  MachineModel machine = plain_machine(512, 8, 512, 2);  // L3: 4 sets x 2
  machine.l3.inclusion = Inclusion::inclusive;
  const auto memory = make_hierarchy(machine);
  CoreState& first = memory->add_core();
  CoreState& second = memory->add_core();
  store(first, 0);
  for (const uint64_t line : {4U, 8U}) load(second, line * 64);
  EXPECT_EQ(load_source(first, 0), DataSource::memory);
}

TEST(CoherenceInOneThread, IsTheSameInEveryRun) {
  const auto run = [] {
    const auto memory = make_hierarchy(tiny_machine(), Locality::all);
    std::vector<uint64_t> counts(kDataSources);
    std::vector<CoreState*> cores;
    for (int i = 0; i < 4; ++i) cores.push_back(&memory->add_core());
    uint64_t random = 1;
    for (int i = 0; i < 100000; ++i) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const Outcome outcome = access(*cores[random >> 62], (random >> 40) % 4096, 4,
                                     random >> 35 & 1 ? AccessType::store : AccessType::load, 1);
      ++counts[static_cast<size_t>(outcome.source)];
    }
    return counts;
  };
  EXPECT_EQ(run(), run());
}

// What is counted depends on the order of the threads; that it ends, and that each access is
// counted once, does not. (Run under ThreadSanitizer by hand.)
TEST(CoherenceInParallel, CoresMayBeDrivenByThreadsAtOnce) {
  for (const Inclusion inclusion :
       {Inclusion::non_inclusive, Inclusion::inclusive, Inclusion::victim}) {
    MachineModel machine = tiny_machine();
    machine.l3.inclusion = inclusion;
    const auto memory = make_hierarchy(machine, Locality::all);
    constexpr uint64_t accesses = 50000;
    std::vector<std::thread> threads;
    std::vector<CoreState*> cores;
    for (int i = 0; i < 3; ++i) cores.push_back(&memory->add_core());
    for (CoreState* core : cores) {
      threads.emplace_back([core] {
        uint64_t random = core->number + 1;
        for (uint64_t i = 0; i < accesses; ++i) {
          random = random * 6364136223846793005 + 1442695040888963407;
          access(*core, (random >> 40) % 4096 & ~uint64_t{7}, 8,
                 random >> 35 & 1 ? AccessType::store : AccessType::load, core->number + 1U);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    memory->finish();
    for (CoreState* core : cores) {
      uint64_t bytes = 0;
      for (const auto& [site, row] : core->tenures(Level::l1d).sites()) bytes += row.bytes_accessed;
      EXPECT_EQ(bytes, accesses * 8);
    }
  }
}

}  // namespace
}  // namespace culprit::simulate
