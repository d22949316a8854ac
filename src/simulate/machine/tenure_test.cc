#include "simulate/machine/tenure.h"

#include <map>
#include <random>
#include <tuple>

#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

/// Counts edges however their lines were brought in.
uint64_t edge(TenureTable& table, Site from, Site to, LineEdgeKind kind) {
  uint64_t sum = 0;
  for (const auto& [key, count] : table.edges()) {
    sum += key.from.site() == from && key.to.site() == to && key.kind == kind ? count : 0;
  }
  return sum;
}

bool is_eviction(LineEdgeKind kind) {
  return kind == LineEdgeKind::evict_by_capacity || kind == LineEdgeKind::evict_by_conflict;
}

SiteTenures row_of(CoreState& core, Level level, Origin origin) {
  const TenureTable::Sites sites = core.tenures(level).sites();
  const auto found = sites.find(origin);
  return found == sites.end() ? SiteTenures() : found->second;
}
SiteTenures site(CoreState& core, Level level, Site number) {
  return row_of(core, level, number);
}

TEST(ByteMask, CoversTheBytesOfAnAccess) {
  EXPECT_EQ(ByteMask::of(0, 64).low, ~uint64_t{0});
  EXPECT_EQ(ByteMask::of(0, 64).high, 0U);
  EXPECT_EQ(ByteMask::of(8, 8).low, 0xff00U);
  EXPECT_EQ(ByteMask::of(60, 8).low, uint64_t{0xf} << 60);
  EXPECT_EQ(ByteMask::of(60, 8).high, 0xfU);
  EXPECT_EQ(ByteMask::of(120, 8).high, uint64_t{0xff} << 56);
  EXPECT_EQ(ByteMask::of(0, 128).count(), 128U);
  EXPECT_FALSE(ByteMask::of(0, 8).overlaps(ByteMask::of(8, 8)));
  EXPECT_TRUE(ByteMask::of(0, 9).overlaps(ByteMask::of(8, 8)));
}

// The example of tenure.h: L1D of one line.
TEST(LineTenure, FollowsALineFromFillToEviction) {
  const auto memory = make_hierarchy(plain_machine(64, 1, 1024, 16), Locality::l1);
  CoreState& core = memory->add_core();
  load(core, 0, 8, 7);
  load(core, 8, 8, 7);
  load(core, 8, 8, 9);
  load(core, 64, 8, 3);
  const SiteTenures ended = site(core, Level::l1d, 7);
  EXPECT_EQ(ended.lines, 1U);
  EXPECT_EQ(ended.bytes_touched, 16U);
  EXPECT_EQ(ended.bytes_accessed, 24U);  // temporal use 24/16 - 1 = 0.5
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 7, LineEdgeKind::reuse), 1U);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 9, LineEdgeKind::reuse), 1U);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 3, LineEdgeKind::evict_by_capacity), 1U);
  EXPECT_EQ(site(core, Level::l1d, 3).lines, 0U);  // still there
  memory->finish();
  EXPECT_EQ(site(core, Level::l1d, 3).lines, 1U);
  EXPECT_EQ(site(core, Level::l1d, 3).lines_left_at_end, 1U);
}

// L1D of four lines. Site 1 reads five lines, which evicts the first; site 2 reads the first and
// the second again: one was lost by capacity, and brings it in again, which evicts the second, too.
TEST(LineTenure, WhatWasEvictedAndComesBackIsARefetch) {
  const auto memory = make_hierarchy(plain_machine(256, 4, 4096, 16), Locality::all);
  CoreState& core = memory->add_core();
  for (uint64_t line = 0; line < 5; ++line) load(core, 64 * line, 8, 1);
  load(core, 0, 8, 2);
  load(core, 64, 8, 2);
  memory->finish();
  TenureTable& l1d = core.tenures(Level::l1d);
  EXPECT_EQ(edge(l1d, 1, 2, LineEdgeKind::refetch_after_capacity), 2U);
  EXPECT_EQ(edge(l1d, 1, 1, LineEdgeKind::refetch_after_capacity), 0U);
  EXPECT_EQ(edge(core.tenures(Level::l3), 1, 2, LineEdgeKind::refetch_after_capacity), 0U);
  // 5 lines and 2 again, of which 3 were evicted, none of them after a second use.
  EXPECT_EQ(site(core, Level::l1d, 1).lines + site(core, Level::l1d, 2).lines, 7U);
  EXPECT_EQ(site(core, Level::l1d, 1).lines_reused, 0U);
  EXPECT_EQ(site(core, Level::l3, 1).lines_reused, 2U);
}

// Two lines of one set, one way, in turns, while the other sets rest: all but the first two are
// refetches after conflicts, from and to both.
TEST(LineTenure, PingPongRefetchesAfterConflicts) {
  const auto memory = make_hierarchy(plain_machine(64 * 1024, 1, 128 * 1024, 16), Locality::l1);
  CoreState& core = memory->add_core();
  for (int round = 0; round < 100; ++round) {
    load(core, 0, 8, 1);
    load(core, 64 * 1024, 8, 2);
  }
  memory->finish();
  TenureTable& l1d = core.tenures(Level::l1d);
  EXPECT_EQ(edge(l1d, 1, 1, LineEdgeKind::refetch_after_conflict), 99U);
  EXPECT_EQ(edge(l1d, 2, 2, LineEdgeKind::refetch_after_conflict), 99U);
  EXPECT_EQ(edge(l1d, 1, 2, LineEdgeKind::refetch_after_conflict), 0U);
}

TEST(LostLines, RememberTheLatestLineOfEachPlaceOnce) {
  LostLines lost(4);
  lost.note(1, 1, Origin(7), true);
  lost.note(5, 5, Origin(8), false);  // in the same place
  EXPECT_FALSE(lost.take(1, 1));
  const auto found = lost.take(5, 5);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->had, Origin(8));
  EXPECT_FALSE(found->by_capacity);
  EXPECT_FALSE(lost.take(5, 5));
  LostLines none;
  none.note(0, 0, Origin(7), true);
  EXPECT_FALSE(none.take(0, 0));
}

// A load of 32 bytes, told in parts of 8, across the end of a line.
TEST(LineTenure, PartsOfAnAccessInOneLineAreOneUse) {
  const auto memory = make_hierarchy(plain_machine(64, 1, 1024, 16), Locality::l1);
  CoreState& core = memory->add_core();
  EXPECT_FALSE(is_in_line_before(core, 64, 8));
  EXPECT_TRUE(is_in_line_before(core, 56, 8));
  EXPECT_FALSE(is_in_line_before(core, 60, 8));  // goes on into the next one
  load(core, 48, 8, 7);
  access_more<Locality::l1>(core, 56, 8);
  load(core, 64, 8, 7);
  access_more<Locality::l1>(core, 72, 8);
  memory->finish();
  const SiteTenures ended = site(core, Level::l1d, 7);
  EXPECT_EQ(ended.lines, 2U);
  EXPECT_EQ(ended.bytes_touched, 32U);
  EXPECT_EQ(ended.bytes_accessed, 32U);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 7, LineEdgeKind::reuse), 0U);
}

/// All rows of a level together.
SiteTenures sum_rows(CoreState& core, Level level) {
  SiteTenures sum;
  for (const auto& [origin, row] : core.tenures(level).sites()) {
    sum.lines += row.lines;
    sum.touches += row.touches;
    sum.bytes_touched += row.bytes_touched;
    sum.lines_left_at_end += row.lines_left_at_end;
    sum.lines_prefetched += row.lines_prefetched;
    sum.lines_never_used += row.lines_never_used;
  }
  return sum;
}

// An instruction that adds to memory loads the line and stores to it; another stores only.
TEST(LineTenure, LoadsAndStoresOfOneInstructionAreApart) {
  const auto memory = make_hierarchy(plain_machine(4096, 8, 1 << 20, 16), Locality::l1);
  CoreState& core = memory->add_core();
  for (uint64_t line = 0; line < 4; ++line) {
    load(core, line * 64, 8, 7);
    store(core, line * 64, 8, 7);
    store(core, (line + 4) * 64 + 56, 8, 9);
  }
  store(core, 8 * 64, 8, 7);
  fetch(core, 1 << 20, 16, 7);
  memory->finish();
  const SiteTenures loaded = row_of(core, Level::l1d, {7, LineUse::load});
  EXPECT_EQ(loaded.lines, 4U);
  EXPECT_EQ(loaded.touches, 8U);
  EXPECT_EQ(loaded.bytes_touched, 32U);
  EXPECT_EQ(loaded.bytes_accessed, 64U);
  EXPECT_EQ(row_of(core, Level::l1d, {7, LineUse::store}).lines, 1U);
  const SiteTenures stored = row_of(core, Level::l1d, {9, LineUse::store});
  EXPECT_EQ(stored.lines, 4U);
  EXPECT_EQ(stored.touches, 4U);
  EXPECT_EQ(stored.bytes_touched, 32U);
  EXPECT_EQ(row_of(core, Level::l1d, {9, LineUse::load}).lines, 0U);
  EXPECT_EQ(row_of(core, Level::l1i, {7, LineUse::fetch}).lines, 1U);
}

// A level is touched as often as it is asked: L1D by each access, the others by the misses of the
// level before. What lines begin ends, or is there at the end.
TEST(LineTenure, LevelsAreTouchedAsOftenAsTheyAreAsked) {
  for (const bool prefetch : {false, true}) {
    MachineModel machine = tiny_machine();
    machine.l1d = {1024, 4};
    machine.l2 = {4096, 4};
    machine.l3 = {16384, 4};
    machine.prefetch.stream = machine.prefetch.stride = prefetch;
    const auto memory = make_hierarchy(machine, Locality::all);
    CoreState& core = memory->add_core();
    std::mt19937 random(5);
    constexpr uint64_t accesses = 50'000;
    uint64_t l1_misses = 0;
    uint64_t l2_misses = 0;
    for (uint64_t i = 0; i < accesses; ++i) {
      // Accesses are steps of a walk in part, and anywhere in part.
      const uint64_t address = i % 3 == 0 ? random() % 32768 & ~7U : i * 40 % 65536 & ~uint64_t{7};
      const auto kind = random() % 3 == 0 ? AccessType::store : AccessType::load;
      const Outcome outcome = access(core, address, 8, kind, static_cast<Site>(1 + i % 3));
      l1_misses += outcome.source != DataSource::l1 ? 1 : 0;
      l2_misses += outcome.source > DataSource::l2 ? 1 : 0;
    }
    memory->finish();
    const SiteTenures l1d = sum_rows(core, Level::l1d);
    EXPECT_EQ(l1d.touches, accesses);
    EXPECT_EQ(l1d.lines, l1_misses + core.traffic.prefetched_l1);
    EXPECT_EQ(l1d.lines_prefetched, core.traffic.prefetched_l1);
    EXPECT_EQ(sum_rows(core, Level::l2).touches, l1_misses);
    EXPECT_EQ(sum_rows(core, Level::l3).touches, l2_misses);
    EXPECT_EQ(core.traffic.prefetched_l1 + core.traffic.prefetched_l2 > 1000, prefetch);
    for (const Level level : {Level::l1d, Level::l2, Level::l3}) {
      const SiteTenures all = sum_rows(core, level);
      uint64_t evicted = 0;
      for (const auto& [key, count] : core.tenures(level).edges()) {
        evicted += is_eviction(key.kind) ? count : 0;
      }
      EXPECT_EQ(all.lines, evicted + all.lines_left_at_end);
      EXPECT_LE(all.lines_never_used, all.lines_prefetched);
      EXPECT_EQ(all.lines_never_used > 0, prefetch);
    }
  }
}

// Code stays in L1I while data pushes it out of L2: it was used all the same.
TEST(LineTenure, CodeThatOnlyTheFirstLevelSawIsUsed) {
  MachineModel machine = tiny_machine();
  machine.l1i = {256, 2};
  machine.prefetch.code_lines = 1;
  const auto memory = make_hierarchy(machine, Locality::all);
  CoreState& core = memory->add_core();
  fetch(core, 1 << 20, 64, 2);         // and the line behind it is fetched ahead
  fetch(core, (1 << 20) + 64, 16, 3);  // which is used in L1I only; the third is not used
  for (uint64_t line = 0; line < 64; ++line) load(core, line * 64, 8, 1);
  memory->finish();
  const SiteTenures first = row_of(core, Level::l2, {2, LineUse::fetch});
  EXPECT_EQ(first.lines, 2U);
  EXPECT_EQ(first.lines_prefetched, 1U);
  EXPECT_EQ(first.lines_never_used, 0U);
  EXPECT_EQ(first.bytes_touched, 64U + 16);
  const SiteTenures second = row_of(core, Level::l2, {3, LineUse::fetch});
  EXPECT_EQ(second.lines, 1U);
  EXPECT_EQ(second.lines_never_used, 1U);
}

// One core, two threads, one after the other: whose lines, and who pushes them out.
TEST(LineTenure, LinesStayThoseOfTheThreadThatBroughtThemIn) {
  const auto memory = make_hierarchy(plain_machine(256, 4, 1 << 20, 16), Locality::l1);
  CoreState& core = memory->add_core();
  begin_thread(core, 5);
  for (uint64_t line = 0; line < 4; ++line) load(core, line * 64, 8, 7);
  for (int i = 0; i < 10; ++i) load(core, 0, 8, 7);
  begin_thread(core, 6);
  for (int i = 0; i < 3; ++i) load(core, 0, 8, 7);
  for (uint64_t line = 4; line < 8; ++line) load(core, line * 64, 8, 7);
  memory->finish();
  std::map<std::tuple<uint8_t, uint8_t, LineEdgeKind>, uint64_t> edges;
  for (const auto& [key, count] : core.tenures(Level::l1d).edges()) {
    edges[{key.from.thread(), key.to.thread(), key.kind}] += count;
  }
  EXPECT_EQ((edges[{5, 5, LineEdgeKind::reuse}]), 10U);
  EXPECT_EQ((edges[{5, 6, LineEdgeKind::reuse}]), 3U);
  EXPECT_EQ((edges[{5, 6, LineEdgeKind::evict_by_capacity}]), 4U);
  EXPECT_EQ(edges.size(), 3U);
  EXPECT_EQ(row_of(core, Level::l1d, {7, LineUse::load, 5}).touches, 4U + 10 + 3);
  EXPECT_EQ(row_of(core, Level::l1d, {7, LineUse::load, 6}).touches, 4U);
}

// What the first core's thread brought into L3 is pushed out of there by the second one's.
TEST(LineTenure, SharedLevelKnowsWhoseLinesItLoses) {
  const auto memory = make_hierarchy(plain_machine(256, 4, 1024, 16), Locality::all);
  CoreState& first = memory->add_core();
  CoreState& second = memory->add_core();
  for (uint64_t line = 0; line < 16; ++line) load(first, line * 64, 8, 1);
  for (uint64_t line = 16; line < 32; ++line) load(second, line * 64, 8, 2);
  memory->finish();
  uint64_t pushed = 0;
  for (const auto& [key, count] : second.tenures(Level::l3).edges()) {
    if (key.from == Origin(1, LineUse::load, 0) && key.to == Origin(2, LineUse::load, 1)) {
      pushed += count;
    }
  }
  EXPECT_EQ(pushed, 16U);
}

TEST(LineTenure, EveryAccessIsFirstOrReuse) {
  const auto memory = make_hierarchy(tiny_machine(), Locality::all);
  CoreState& core = memory->add_core();
  uint64_t random = 1;
  constexpr uint64_t accesses = 100000;
  for (uint64_t i = 0; i < accesses; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const uint64_t address = (random >> 40) % 2048 & ~uint64_t{7};
    access(core, address, 8, random >> 63 != 0 ? AccessType::store : AccessType::load,
           static_cast<Site>(1 + (random >> 33) % 5));
  }
  memory->finish();
  for (const Level level : {Level::l1d, Level::l2, Level::l3}) {
    uint64_t lines = 0;
    uint64_t bytes = 0;
    uint64_t left = 0;
    uint64_t reused = 0;
    uint64_t evicted = 0;
    for (const auto& [number, row] : core.tenures(level).sites()) {
      lines += row.lines;
      bytes += row.bytes_accessed;
      left += row.lines_left_at_end;
    }
    for (const auto& [key, count] : core.tenures(level).edges()) {
      reused += key.kind == LineEdgeKind::reuse ? count : 0;
      evicted += is_eviction(key.kind) ? count : 0;
    }
    EXPECT_EQ(lines, left + evicted);
    if (level == Level::l1d) {
      EXPECT_EQ(lines + reused, accesses);
      EXPECT_EQ(bytes, accesses * 8);
    }
  }
}

// Sites 1 and 2 read the halves of 32 lines; the L1D holds 4, the L2 8, the L3 16: what the
// L1D saw is known at each level.
TEST(LineTenure, BytesTouchedTravelDown) {
  const auto memory = make_hierarchy(tiny_machine(), Locality::all);
  CoreState& core = memory->add_core();
  for (uint64_t line = 0; line < 32; ++line) {
    load(core, line * 64, 32, 1);
    load(core, line * 64 + 32, 16, 2);
    load(core, line * 64 + 40, 8, 2);
  }
  memory->finish();
  for (const Level level : {Level::l1d, Level::l2, Level::l3}) {
    const SiteTenures row = site(core, level, 1);
    EXPECT_EQ(row.lines, 32U);
    EXPECT_EQ(row.bytes_touched, 32U * 48);
    EXPECT_EQ(row.bytes_accessed, 32U * 56);
    EXPECT_EQ(site(core, level, 2).lines, 0U);
  }
  EXPECT_EQ(site(core, Level::l1d, 1).lines_left_at_end, 4U);
  EXPECT_EQ(site(core, Level::l2, 1).lines_left_at_end, 8U);
  EXPECT_EQ(site(core, Level::l3, 1).lines_left_at_end, 16U);
}

TEST(LineTenure, SecondLevelSeesWhoComesBack) {
  const auto memory = make_hierarchy(tiny_machine(), Locality::all);
  CoreState& core = memory->add_core();
  load(core, 0, 8, 1);
  load(core, 2 * 64, 8, 2);
  load(core, 6 * 64, 8, 2);  // line 0 leaves L1D, not L2
  load(core, 0, 8, 3);
  memory->finish();
  EXPECT_EQ(edge(core.tenures(Level::l2), 1, 3, LineEdgeKind::reuse), 1U);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 1, 3, LineEdgeKind::reuse), 0U);
  EXPECT_EQ(site(core, Level::l2, 1).lines, 1U);
  EXPECT_EQ(site(core, Level::l2, 1).bytes_accessed, 16U);
}

// An L1D of 64 sets x 8 ways. Nine lines that share a set, while the rest of the cache is
// empty or holds older lines: conflict. A run over four times the cache: capacity.
TEST(LineTenure, TellsConflictFromCapacity) {
  for (const bool rest_is_full : {false, true}) {
    const auto memory = make_hierarchy(plain_machine(32 << 10, 8, 8 << 20, 16), Locality::l1);
    CoreState& core = memory->add_core();
    if (rest_is_full) {
      for (uint64_t line = 0; line < 448; ++line) load(core, line * 64, 8, 1);
    }
    for (int round = 0; round < 100; ++round) {
      for (uint64_t i = 0; i < 9; ++i) load(core, (1 << 20) + 63 * 64 + i * 4096, 8, 2);
    }
    TenureTable& table = core.tenures(Level::l1d);
    EXPECT_EQ(edge(table, 2, 2, LineEdgeKind::evict_by_capacity), 0U);
    EXPECT_GE(edge(table, 2, 2, LineEdgeKind::evict_by_conflict), 890U);
  }
  const auto memory = make_hierarchy(plain_machine(32 << 10, 8, 8 << 20, 16), Locality::l1);
  CoreState& core = memory->add_core();
  for (int round = 0; round < 10; ++round) {
    for (uint64_t line = 0; line < 2048; ++line) load(core, line * 64, 8, 3);
  }
  TenureTable& table = core.tenures(Level::l1d);
  EXPECT_EQ(edge(table, 3, 3, LineEdgeKind::evict_by_conflict), 0U);
  EXPECT_EQ(edge(table, 3, 3, LineEdgeKind::evict_by_capacity), 20480U - 512);
}

// Code and data push each other out of L2 (case 4 of papers/hierarchical-cycle-accounting).
TEST(LineTenure, InstructionsEvictDataInL2) {
  MachineModel machine = tiny_machine();
  machine.l1i = {256, 2};
  const auto memory = make_hierarchy(machine, Locality::all);
  CoreState& core = memory->add_core();
  for (int round = 0; round < 10; ++round) {
    for (uint64_t line = 0; line < 8; ++line) load(core, line * 64, 8, 1);
    for (uint64_t line = 0; line < 8; ++line) fetch(core, (1 << 20) + line * 64, 64, 2);
  }
  TenureTable& table = core.tenures(Level::l2);
  const auto pushed = [&](Site from, Site to) {
    return edge(table, from, to, LineEdgeKind::evict_by_capacity) +
           edge(table, from, to, LineEdgeKind::evict_by_conflict);
  };
  EXPECT_EQ(pushed(1, 2), 80U);
  EXPECT_EQ(pushed(2, 1), 72U);
  EXPECT_EQ(pushed(1, 1) + pushed(2, 2), 0U);
}

TEST(LineTenure, PrefetchedLinesThatNobodyUsesAreCounted) {
  MachineModel machine = plain_machine(4096, 64, 1 << 20, 16);
  machine.l2.size_bytes = 64 << 10;
  machine.prefetch.stream = true;
  machine.prefetch.stream_lines = 4;
  const auto memory = make_hierarchy(machine, Locality::all);
  CoreState& core = memory->add_core();
  for (uint64_t line = 0; line < 3; ++line) load(core, line * 64, 8, 5);
  memory->finish();
  const SiteTenures row = site(core, Level::l2, 5);
  EXPECT_EQ(row.lines, 7U);  // 0, 1, 2 asked for; 3, 4, 5, 6 fetched ahead
  EXPECT_EQ(row.lines_prefetched, 4U);
  EXPECT_EQ(row.lines_never_used, 4U);
  EXPECT_EQ(row.touches, 3U);
}

// The fourth and later of 16 lines are fetched ahead into L1D: their first use is no reuse.
TEST(LineTenure, FirstUseOfAPrefetchedLineIsNoReuse) {
  MachineModel machine = plain_machine(4096, 64, 1 << 20, 16);
  machine.prefetch.stride = true;
  const auto memory = make_hierarchy(machine, Locality::l1);
  CoreState& core = memory->add_core();
  for (uint64_t line = 0; line < 16; ++line) load(core, line * 64, 8, 5);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 5, 5, LineEdgeKind::reuse), 0U);
  load(core, 15 * 64 + 8, 8, 5);
  memory->finish();
  EXPECT_EQ(edge(core.tenures(Level::l1d), 5, 5, LineEdgeKind::reuse), 1U);
  const SiteTenures row = site(core, Level::l1d, 5);
  EXPECT_EQ(row.lines, 18U);  // two beyond the last
  EXPECT_EQ(row.lines_never_used, 2U);
  EXPECT_EQ(row.touches, 17U);
  EXPECT_EQ(row.bytes_touched, 17U * 8);
}

TEST(LineTenure, EdgesBeyondTheLimitAreTheRest) {
  TenureTable table(2);
  for (Site to = 1; to <= 50'000; ++to) table.add_edge({7, to, LineEdgeKind::reuse}, 2);
  uint64_t kept = 0;
  for (const auto& [key, count] : table.edges()) kept += count;
  EXPECT_EQ(table.edges().size(), 2U);
  EXPECT_EQ(kept, 4U);
  EXPECT_EQ(table.sites().at(7).edges_rest[static_cast<size_t>(LineEdgeKind::reuse)], 99'996U);
}

// The way of the frequent hit, which keeps reuses by site for a while, against that of all others.
TEST(LineTenure, FrequentHitsCountWhatOthersDo) {
  const auto frequent = make_hierarchy(tiny_machine(), Locality::all);
  const auto other = make_hierarchy(tiny_machine(), Locality::all);
  CoreState& core = frequent->add_core();
  CoreState& slow = other->add_core();
  std::mt19937 random(3);
  for (int i = 0; i < 50'000; ++i) {
    const Site number = 1 + (random() % 40 & 0xff);
    const uint64_t address = random() % (random() % 4 == 0 ? 2048 : 256);
    const auto kind = random() % 4 == 0 ? AccessType::store : AccessType::load;
    const Outcome outcome = access(core, address, 4, kind, number);
    const Outcome expected = access_unusual<Locality::all>(slow, address, 4, kind, number);
    ASSERT_EQ(outcome.source, expected.source) << i;
  }
  frequent->finish();
  other->finish();
  const auto all_edges = [](TenureTable& table) {
    std::map<std::tuple<Origin, Origin, LineEdgeKind>, uint64_t> edges;
    for (const auto& [key, count] : table.edges()) edges[{key.from, key.to, key.kind}] += count;
    return edges;
  };
  for (const Level level : {Level::l1d, Level::l2, Level::l3}) {
    EXPECT_EQ(all_edges(core.tenures(level)), all_edges(slow.tenures(level)));
    for (Site number = 1; number <= 40; ++number) {
      const SiteTenures row = site(core, level, number);
      EXPECT_EQ(row.lines, site(slow, level, number).lines);
      EXPECT_EQ(row.bytes_accessed, site(slow, level, number).bytes_accessed);
      EXPECT_EQ(row.touches, site(slow, level, number).touches);
    }
  }
}

}  // namespace
}  // namespace culprit::simulate
