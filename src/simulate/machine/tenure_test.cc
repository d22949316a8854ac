#include "simulate/machine/tenure.h"

#include <map>
#include <random>
#include <tuple>

#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

uint64_t edge(TenureTable& table, Site from, Site to, EdgeKind kind, uint16_t other_core = 0) {
  const EdgeKey wanted{from, to, kind, other_core};
  uint64_t sum = 0;
  for (const auto& [key, count] : table.edges()) sum += key == wanted ? count : 0;
  return sum;
}

SiteTenures site(CoreState& core, Level level, Site number) {
  const TenureTable::Sites& sites = core.tenures(level).sites();
  const auto found = sites.find(number);
  return found == sites.end() ? SiteTenures() : found->second;
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
TEST(Tenure, FollowsALineFromFillToEviction) {
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
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 7, EdgeKind::reuse), 1U);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 9, EdgeKind::reuse), 1U);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 3, EdgeKind::evict_by_capacity), 1U);
  EXPECT_EQ(site(core, Level::l1d, 3).lines, 0U);  // still there
  memory->finish();
  EXPECT_EQ(site(core, Level::l1d, 3).lines, 1U);
  EXPECT_EQ(site(core, Level::l1d, 3).lines_left_at_end, 1U);
}

// A load of 32 bytes, told in parts of 8, across the end of a line.
TEST(Tenure, PartsOfAnAccessInOneLineAreOneUse) {
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
  EXPECT_EQ(edge(core.tenures(Level::l1d), 7, 7, EdgeKind::reuse), 0U);
}

TEST(Tenure, EveryAccessIsFirstOrReuse) {
  const auto memory = make_hierarchy(tiny_machine(), Locality::all);
  CoreState& core = memory->add_core();
  uint64_t random = 1;
  constexpr uint64_t accesses = 100000;
  for (uint64_t i = 0; i < accesses; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const uint64_t address = (random >> 40) % 2048 & ~uint64_t{7};
    access(core, address, 8, random >> 63 != 0 ? AccessKind::store : AccessKind::load,
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
      (key.kind == EdgeKind::reuse ? reused : evicted) += count;
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
TEST(Tenure, BytesTouchedTravelDown) {
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

TEST(Tenure, SecondLevelSeesWhoComesBack) {
  const auto memory = make_hierarchy(tiny_machine(), Locality::all);
  CoreState& core = memory->add_core();
  load(core, 0, 8, 1);
  load(core, 2 * 64, 8, 2);
  load(core, 6 * 64, 8, 2);  // line 0 leaves L1D, not L2
  load(core, 0, 8, 3);
  memory->finish();
  EXPECT_EQ(edge(core.tenures(Level::l2), 1, 3, EdgeKind::reuse), 1U);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 1, 3, EdgeKind::reuse), 0U);
  EXPECT_EQ(site(core, Level::l2, 1).lines, 1U);
  EXPECT_EQ(site(core, Level::l2, 1).bytes_accessed, 16U);
}

// An L1D of 64 sets x 8 ways. Nine lines that share a set, while the rest of the cache is
// empty or holds older lines: conflict. A run over four times the cache: capacity.
TEST(Tenure, TellsConflictFromCapacity) {
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
    EXPECT_EQ(edge(table, 2, 2, EdgeKind::evict_by_capacity), 0U);
    EXPECT_GE(edge(table, 2, 2, EdgeKind::evict_by_conflict), 890U);
  }
  const auto memory = make_hierarchy(plain_machine(32 << 10, 8, 8 << 20, 16), Locality::l1);
  CoreState& core = memory->add_core();
  for (int round = 0; round < 10; ++round) {
    for (uint64_t line = 0; line < 2048; ++line) load(core, line * 64, 8, 3);
  }
  TenureTable& table = core.tenures(Level::l1d);
  EXPECT_EQ(edge(table, 3, 3, EdgeKind::evict_by_conflict), 0U);
  EXPECT_EQ(edge(table, 3, 3, EdgeKind::evict_by_capacity), 20480U - 512);
}

// Code and data push each other out of L2 (case 4 of papers/hierarchical-cycle-accounting).
TEST(Tenure, InstructionsEvictDataInL2) {
  Machine machine = tiny_machine();
  machine.l1i = {256, 2};
  const auto memory = make_hierarchy(machine, Locality::all);
  CoreState& core = memory->add_core();
  for (int round = 0; round < 10; ++round) {
    for (uint64_t line = 0; line < 8; ++line) load(core, line * 64, 8, 1);
    for (uint64_t line = 0; line < 8; ++line) fetch(core, (1 << 20) + line * 64, 64, 2);
  }
  TenureTable& table = core.tenures(Level::l2);
  const auto pushed = [&](Site from, Site to) {
    return edge(table, from, to, EdgeKind::evict_by_capacity) +
           edge(table, from, to, EdgeKind::evict_by_conflict);
  };
  EXPECT_EQ(pushed(1, 2), 80U);
  EXPECT_EQ(pushed(2, 1), 72U);
  EXPECT_EQ(pushed(1, 1) + pushed(2, 2), 0U);
}

TEST(Tenure, PrefetchedLinesThatNobodyUsesAreCounted) {
  Machine machine = plain_machine(4096, 64, 1 << 20, 16);
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
}

// The fourth and later of 16 lines are fetched ahead into L1D: their first use is no reuse.
TEST(Tenure, FirstUseOfAPrefetchedLineIsNoReuse) {
  Machine machine = plain_machine(4096, 64, 1 << 20, 16);
  machine.prefetch.stride = true;
  const auto memory = make_hierarchy(machine, Locality::l1);
  CoreState& core = memory->add_core();
  for (uint64_t line = 0; line < 16; ++line) load(core, line * 64, 8, 5);
  EXPECT_EQ(edge(core.tenures(Level::l1d), 5, 5, EdgeKind::reuse), 0U);
  load(core, 15 * 64 + 8, 8, 5);
  memory->finish();
  EXPECT_EQ(edge(core.tenures(Level::l1d), 5, 5, EdgeKind::reuse), 1U);
  const SiteTenures row = site(core, Level::l1d, 5);
  EXPECT_EQ(row.lines, 18U);  // two beyond the last
  EXPECT_EQ(row.lines_never_used, 2U);
  EXPECT_EQ(row.bytes_touched, 17U * 8);
}

TEST(Tenure, EdgesBeyondTheLimitAreTheRest) {
  TenureTable table(2);
  for (Site to = 1; to <= 50'000; ++to) table.add_edge({7, to, EdgeKind::reuse, 0}, 2);
  uint64_t kept = 0;
  for (const auto& [key, count] : table.edges()) kept += count;
  EXPECT_EQ(table.edges().size(), 2U);
  EXPECT_EQ(kept, 4U);
  EXPECT_EQ(table.sites().at(7).edges_rest[static_cast<size_t>(EdgeKind::reuse)], 99'996U);
}

// The way of the frequent hit, which keeps reuses by site for a while, against that of all others.
TEST(Tenure, FrequentHitsCountWhatOthersDo) {
  const auto frequent = make_hierarchy(tiny_machine(), Locality::all);
  const auto other = make_hierarchy(tiny_machine(), Locality::all);
  CoreState& core = frequent->add_core();
  CoreState& slow = other->add_core();
  std::mt19937 random(3);
  for (int i = 0; i < 50'000; ++i) {
    const Site number = 1 + (random() % 40 & 0xff);
    const uint64_t address = random() % (random() % 4 == 0 ? 2048 : 256);
    const auto kind = random() % 4 == 0 ? AccessKind::store : AccessKind::load;
    const Outcome outcome = access(core, address, 4, kind, number);
    const Outcome expected = access_unusual<Locality::all>(slow, address, 4, kind, number);
    ASSERT_EQ(outcome.source, expected.source) << i;
  }
  frequent->finish();
  other->finish();
  const auto all_edges = [](TenureTable& table) {
    std::map<std::tuple<Site, Site, EdgeKind>, uint64_t> edges;
    for (const auto& [key, count] : table.edges()) edges[{key.from, key.to, key.kind}] += count;
    return edges;
  };
  for (const Level level : {Level::l1d, Level::l2, Level::l3}) {
    EXPECT_EQ(all_edges(core.tenures(level)), all_edges(slow.tenures(level)));
    for (Site number = 1; number <= 40; ++number) {
      const SiteTenures row = site(core, level, number);
      EXPECT_EQ(row.lines, site(slow, level, number).lines);
      EXPECT_EQ(row.bytes_accessed, site(slow, level, number).bytes_accessed);
    }
  }
}

}  // namespace
}  // namespace culprit::simulate
