#include "simulate/machine/hierarchy.h"

#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

struct Misses {
  uint64_t l1 = 0;
  uint64_t memory = 0;
  void add(const Outcome& outcome) {
    l1 += outcome.source != DataSource::l1 ? 1 : 0;
    memory += outcome.source == DataSource::memory ? 1 : 0;
  }
};

// By hand, as cachegrind's manual describes its model: D1 of 2 sets x 2 ways, LL of 4 sets x 2
// ways; the LL sees only what misses D1. Lines A..F = 0, 2, 4, 6, 8, 10: all in D1 set 0;
// LL set 0: A C E (0 4 8), LL set 2: B D F (2 6 10).
TEST(Hierarchy, CountsWhatCachegrindsModelCounts) {
  const auto memory = make_hierarchy(plain_machine(256, 2, 512, 2));
  CoreState& core = memory->add_core();
  const auto at = [](int line) { return static_cast<uint64_t>(line) * 64; };
  EXPECT_EQ(load_source(core, at(0)), DataSource::memory);  // D1: A       LL0: A
  EXPECT_EQ(load_source(core, at(2)), DataSource::memory);  // D1: A B     LL2: B
  EXPECT_EQ(load_source(core, at(0)), DataSource::l1);      // D1: B A
  EXPECT_EQ(load_source(core, at(4)), DataSource::memory);  // D1: A C     LL0: A C
  EXPECT_EQ(load_source(core, at(2)), DataSource::l3);      // D1: C B
  EXPECT_EQ(load_source(core, at(8)), DataSource::memory);  // D1: B E     LL0: C E
  EXPECT_EQ(load_source(core, at(0)), DataSource::memory);  // D1: E A     LL0: E A
  EXPECT_EQ(load_source(core, at(8)), DataSource::l1);      // D1: A E
  EXPECT_EQ(load_source(core, at(4)), DataSource::memory);  // D1: E C     LL0: A C
  EXPECT_EQ(load_source(core, at(1)), DataSource::memory);  // D1 set 1: free
  EXPECT_EQ(load_source(core, at(0)), DataSource::l3);
}

TEST(Hierarchy, AccessAcrossTwoLinesTakesBothAndIsTheFartherOne) {
  const auto memory = make_hierarchy(plain_machine(256, 2, 512, 2));
  CoreState& core = memory->add_core();
  const Outcome both = load(core, 60, 8);
  EXPECT_EQ(both.missed_lines, 2);
  EXPECT_TRUE(both.crosses_line);
  EXPECT_EQ(both.source, DataSource::memory);
  EXPECT_TRUE(load(core, 0).plain_hit());
  EXPECT_TRUE(load(core, 64).plain_hit());
  const Outcome half = load(core, 124, 8);  // line 1 is there, line 2 is not
  EXPECT_EQ(half.missed_lines, 1);
  EXPECT_EQ(half.source, DataSource::memory);
}

TEST(Hierarchy, AccessesAtTheEndOfTheAddressSpaceAndHugeOnesEnd) {
  const auto memory = make_hierarchy(plain_machine(256, 2, 512, 2));
  CoreState& core = memory->add_core();
  EXPECT_EQ(load(core, ~uint64_t{0} - 3, 64).missed_lines, 1);
  EXPECT_EQ(load(core, 0, ~0U).missed_lines, 64);  // cut at 4096 bytes
  EXPECT_EQ(load(core, 8192, 0).missed_lines, 1);  // at least one byte
}

struct ChaseCase {
  const char* level;
  uint64_t lines;            // of the level
  DataSource fits, exceeds;  // where twice as many lines as the level holds come from
};

// A chase in line order over half, all and twice the lines of a level, true LRU: what fits
// hits from the second round on; what does not always misses (LRU's worst case).
TEST(Hierarchy, ChaseOverHalfOnceAndTwiceEachLevel) {
  const ChaseCase cases[] = {{"L1D", 64, DataSource::l1, DataSource::l2},
                             {"L2", 256, DataSource::l2, DataSource::l3},
                             {"L3", 1024, DataSource::l3, DataSource::memory}};
  MachineModel machine = plain_machine(64 * 64, 8, 1024 * 64, 16);
  machine.l2.size_bytes = 256 * 64;
  machine.l2.ways = 8;
  for (const ChaseCase& test : cases) {
    SCOPED_TRACE(test.level);
    for (const uint64_t lines : {test.lines / 2, test.lines, test.lines * 2}) {
      const auto memory = make_hierarchy(machine);
      CoreState& core = memory->add_core();
      for (uint64_t line = 0; line < lines; ++line) load(core, line * 64);
      uint64_t from_level = 0;
      uint64_t from_behind = 0;
      for (int round = 0; round < 3; ++round) {
        for (uint64_t line = 0; line < lines; ++line) {
          const DataSource source = load_source(core, line * 64);
          from_level += source == test.fits ? 1 : 0;
          from_behind += source == test.exceeds ? 1 : 0;
        }
      }
      const bool fits = lines <= test.lines;
      EXPECT_EQ(from_level, fits ? 3 * lines : 0) << lines;
      EXPECT_EQ(from_behind, fits ? 0 : 3 * lines) << lines;
    }
  }
}

// 64 sets x 8 ways of 64 bytes: lines 4096 bytes apart share a set.
TEST(Hierarchy, StrideOfAllSetsHoldsAsManyLinesAsWays) {
  for (const uint64_t lines : {8U, 9U}) {
    const auto memory = make_hierarchy(plain_machine(32 << 10, 8, 8 << 20, 16));
    CoreState& core = memory->add_core();
    Misses misses;
    for (int round = 0; round < 10; ++round) {
      for (uint64_t i = 0; i < lines; ++i) misses.add(load(core, i * 4096));
    }
    EXPECT_EQ(misses.l1, lines == 8 ? 8U : 90U);
    EXPECT_EQ(misses.memory, lines);
  }
}

// The middle matrix of a column-order product, n = 128, two doubles a load: rows are 1024
// bytes apart, so a column's 128 lines are in 4 of 64 sets, which hold 32: each of the
// n x n/2 x n loads misses. shared/facts/simulation-measurements.md has n = 400.
TEST(Hierarchy, ColumnOrderMatrixProductMissesHalfNCubed) {
  constexpr uint64_t n = 128;
  const auto memory = make_hierarchy(plain_machine(32 << 10, 8, 8 << 20, 16), Locality::l1);
  CoreState& core = memory->add_core();
  Misses misses;
  for (uint64_t i = 0; i < n; ++i) {
    for (uint64_t j = 0; j < n; j += 2) {
      for (uint64_t k = 0; k < n; ++k) misses.add(load(core, (k * n + j) * 8, 16));
    }
  }
  EXPECT_EQ(misses.l1, n * n * n / 2);
  EXPECT_EQ(misses.memory, n * n * 8 / 64);
  memory->finish();
  const SiteTenures site = core.tenures(Level::l1d).sites().at(1);
  EXPECT_EQ(site.lines, n * n * n / 2);
  EXPECT_EQ(site.bytes_touched, site.lines * 16);  // spatial use 25.0 %
}

TEST(Hierarchy, DirtyLinesAreWrittenBackLevelByLevel) {
  const auto memory = make_hierarchy(tiny_machine());
  CoreState& core = memory->add_core();
  store(core, 0);
  EXPECT_EQ(core.traffic.memory, 1U);  // the line that was fetched
  load(core, 2 * 64);
  load(core, 6 * 64);  // L1D set 0 holds 2 and 6 now; line 0 is dirty in L2
  EXPECT_EQ(core.traffic.written_back_l1, 1U);
  EXPECT_EQ(core.traffic.written_back_l2, 0U);
  load(core, 4 * 64);
  load(core, 8 * 64);  // L2 set 0 held 0 and 4: line 0 goes on to L3
  EXPECT_EQ(core.traffic.written_back_l2, 1U);
  EXPECT_EQ(core.traffic.memory, 5U);
  load(core, 16 * 64);  // L3 set 0 held 0 and 8: line 0 goes to memory
  EXPECT_EQ(core.traffic.memory, 7U);
}

TEST(Hierarchy, InclusiveLevelTakesItsLinesOutOfTheNearerOnes) {
  for (const Inclusion inclusion : {Inclusion::inclusive, Inclusion::non_inclusive}) {
    MachineModel machine = plain_machine(512, 8, 512, 2);  // L1D: one set; L3: 4 sets x 2
    machine.l3.inclusion = inclusion;
    const auto memory = make_hierarchy(machine);
    CoreState& core = memory->add_core();
    for (const uint64_t line : {0U, 4U, 8U}) load(core, line * 64);  // all in L3 set 0
    EXPECT_EQ(load_source(core, 4 * 64), DataSource::l1);
    EXPECT_EQ(load_source(core, 0),
              inclusion == Inclusion::inclusive ? DataSource::memory : DataSource::l1);
  }
}

TEST(Hierarchy, InclusiveL2TakesItsLinesOutOfL1) {
  MachineModel machine = tiny_machine();
  machine.l1d = {512, 8};  // one set: L1D would keep them all
  machine.l2.inclusion = Inclusion::inclusive;
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  store(core, 0);
  for (const uint64_t line : {4U, 8U}) load(core, line * 64);  // L2 set 0 loses line 0
  EXPECT_EQ(core.traffic.written_back_l1, 1U);
  EXPECT_EQ(core.traffic.written_back_l2, 1U);
  EXPECT_EQ(load_source(core, 0), DataSource::l3);
}

TEST(Hierarchy, VictimLevelHoldsWhatL2Evicts) {
  MachineModel machine = tiny_machine();
  machine.l3.inclusion = Inclusion::victim;
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  for (const uint64_t line : {0U, 4U, 8U}) load(core, line * 64);
  load(core, 12 * 64);  // L1D set 0: 8 12; L2 set 0: 8 12; L3: 0 (set 0), 4 (set 4)
  EXPECT_EQ(load_source(core, 0), DataSource::l3);  // moves: in L2, no longer in L3
  EXPECT_EQ(load_source(core, 4 * 64), DataSource::l3);
  EXPECT_EQ(load_source(core, 8 * 64), DataSource::l3);
}

TEST(Hierarchy, InstructionsAndDataShareL2) {
  const auto memory = make_hierarchy(tiny_machine());
  CoreState& core = memory->add_core();
  EXPECT_EQ(Outcome(fetch(core, 0, 16, 1)).source, DataSource::memory);
  EXPECT_TRUE(fetch(core, 16, 16, 2).plain_hit());
  EXPECT_EQ(load_source(core, 0), DataSource::l2);
  for (const uint64_t line : {4U, 8U}) load(core, line * 64);
  EXPECT_TRUE(fetch(core, 0, 16, 1).plain_hit());  // L1I keeps it: L2 is not inclusive
}

TEST(Hierarchy, TranslationsGoThroughBothLevels) {
  MachineModel machine = plain_machine(32 << 10, 8, 8 << 20, 16);
  machine.tlb.data = {2, 2};
  machine.tlb.second = {4, 4};
  machine.tlb.second_latency_cycles = 7;
  machine.tlb.walk_level_cycles = 5;
  machine.tlb.walk_last_cycles = 20;
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  const auto page = [&](uint64_t number) { return load(core, number * 4096 + number * 64); };
  const Outcome walk = page(0);
  EXPECT_EQ(walk.translation, TlbLookup::walk);
  EXPECT_EQ(walk.walk_cycles, 7 + 3 * 5 + 20);  // four levels
  EXPECT_EQ(page(0).translation, TlbLookup::first_level);
  for (const uint64_t number : {1U, 2U}) EXPECT_EQ(page(number).translation, TlbLookup::walk);
  const Outcome second = page(0);  // the first level holds 1 and 2
  EXPECT_EQ(second.translation, TlbLookup::second_level);
  EXPECT_EQ(second.walk_cycles, 7);
  EXPECT_EQ(page(2).translation, TlbLookup::first_level);
  for (const uint64_t number : {3U, 4U}) page(number);  // the second level held 1 2 0 3; 1 leaves
  EXPECT_EQ(page(1).translation, TlbLookup::walk);
}

TEST(Hierarchy, HugePagesAreTranslatedOnce) {
  MachineModel machine = plain_machine(32 << 10, 8, 8 << 20, 16);
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  memory->set_huge_pages(0x200000, 0x600000);
  uint64_t walks = 0;
  for (uint64_t address = 0x200000; address < 0x600000; address += 4096) {
    walks += load(core, address).translation == TlbLookup::walk ? 1 : 0;
  }
  EXPECT_EQ(walks, 2U);
  memory->set_huge_pages(0x200000, 0x400000, false);
  EXPECT_EQ(load(core, 0x201000).translation, TlbLookup::walk);
  EXPECT_EQ(load(core, 0x5ff000).translation, TlbLookup::first_level);
}

// The region that was looked at last is forgotten, too.
TEST(Hierarchy, PagesThatAreHugeNoMoreAreTranslatedOneByOne) {
  const auto memory = make_hierarchy(plain_machine(32 << 10, 8, 8 << 20, 16));
  CoreState& core = memory->add_core();
  memory->set_huge_pages(0x200000, 0x400000);
  EXPECT_EQ(load(core, 0x200000).translation, TlbLookup::walk);
  EXPECT_EQ(load(core, 0x201000).translation, TlbLookup::first_level);
  memory->set_huge_pages(0x200000, 0x400000, false);
  EXPECT_EQ(load(core, 0x200000).translation, TlbLookup::walk);
  EXPECT_EQ(load(core, 0x201000).translation, TlbLookup::walk);
}

// One set of four ways, as in Cache.PseudoLruFollowsItsTreeOfBits: after 0 1 2 3 0, line 4 takes
// the place of line 2, and not that of line 0, where the tree pointed before the hit.
TEST(Hierarchy, HitsOrderTheTreesOfPseudoLru) {
  MachineModel machine = plain_machine(256, 4, 8 << 20, 16);
  machine.l1d.replacement = Replacement::plru;
  machine.l1i = machine.l1d;
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  for (const uint64_t line : {0U, 1U, 2U, 3U, 0U, 4U}) {
    load(core, line * 64);
    fetch(core, (1000 + line) * 64, 16, 1);
  }
  EXPECT_EQ(load_source(core, 0), DataSource::l1);
  EXPECT_EQ(load_source(core, 2 * 64), DataSource::l3);
  EXPECT_TRUE(fetch(core, 1000 * 64, 16, 1).plain_hit());
  EXPECT_FALSE(fetch(core, 1002 * 64, 16, 1).plain_hit());
}

TEST(Hierarchy, StreamPrefetcherRunsAheadAfterThreeLines) {
  MachineModel machine = plain_machine(32 << 10, 8, 8 << 20, 16);
  machine.l2.size_bytes = 256 << 10;
  machine.prefetch.stream = true;
  machine.prefetch.stream_lines = 4;
  for (const bool down : {false, true}) {
    const auto memory = make_hierarchy(machine);
    CoreState& core = memory->add_core();
    uint64_t from_memory = 0;
    uint64_t prefetched = 0;
    for (uint64_t i = 0; i < 512; ++i) {  // one page, 8 bytes at a time
      const Outcome outcome = load(core, (down ? 511 - i : i) * 8);
      from_memory += outcome.source == DataSource::memory ? 1 : 0;
      prefetched += outcome.prefetched ? 1 : 0;
      EXPECT_FALSE(outcome.prefetched && outcome.source != DataSource::l2);
    }
    EXPECT_EQ(from_memory, 3U);
    EXPECT_EQ(prefetched, 61U);
    EXPECT_EQ(core.traffic.prefetched_l2, 61U);  // none beyond the page
    EXPECT_EQ(core.traffic.memory, 64U);
  }
}

TEST(Hierarchy, StreamMayGoOnInTheNextPage) {
  MachineModel machine = plain_machine(32 << 10, 8, 8 << 20, 16);
  machine.l2.size_bytes = 256 << 10;
  machine.prefetch.stream = true;
  machine.prefetch.stream_lines = 4;
  machine.prefetch.stream_crosses_pages = true;
  for (const bool down : {false, true}) {
    const auto memory = make_hierarchy(machine);
    CoreState& core = memory->add_core();
    uint64_t from_memory = 0;
    for (uint64_t i = 0; i < 1024; ++i) {  // two pages
      const Outcome outcome = load(core, (16 << 20) + (down ? 1023 - i : i) * 8);
      from_memory += outcome.source == DataSource::memory ? 1 : 0;
    }
    EXPECT_EQ(from_memory, 3U);
    EXPECT_EQ(core.traffic.prefetched_l2, 125U + 4);  // of 128 lines, and beyond them
  }
}

TEST(Hierarchy, StridePrefetcherLearnsEachInstructionsStep) {
  MachineModel machine = plain_machine(32 << 10, 8, 8 << 20, 16);
  machine.prefetch.stride = true;
  machine.prefetch.stride_steps = 2;
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  uint64_t missed = 0;
  uint64_t prefetched = 0;
  for (uint64_t i = 0; i < 21; ++i) {  // two interleaved walks, steps of 192 bytes up and down
    for (const Outcome& outcome :
         {load(core, i * 192, 8, 7), load(core, (1 << 20) + 4032 - i * 192, 8, 8)}) {
      missed += outcome.source == DataSource::memory ? 1 : 0;
      prefetched += outcome.prefetched ? 1 : 0;
    }
  }
  EXPECT_EQ(missed, 2U * 4);  // the step is known at the fourth access
  EXPECT_EQ(prefetched, 2U * 17);
}

// Straight code: the first line misses, each later one was fetched ahead; no further than the
// page's end.
TEST(Hierarchy, CodeIsFetchedAheadWithinItsPage) {
  MachineModel machine = plain_machine(32 << 10, 8, 8 << 20, 16);
  machine.prefetch.code_lines = 2;
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  uint64_t missed = 0;
  uint64_t prefetched = 0;
  for (uint64_t address = 0; address < 8192; address += 16) {
    const Outcome outcome = fetch(core, address, 16, 1);
    missed += outcome.missed_lines;
    prefetched += outcome.prefetched ? 1 : 0;
  }
  EXPECT_EQ(missed, 2U);
  EXPECT_EQ(prefetched, 2U * 63);
  EXPECT_EQ(core.traffic.prefetched_l1, 2U * 63);
}

// cachegrind's D1 of 12-way 3 MB and 128-byte lines, papers/data-structure-profiling: 2048 sets.
TEST(Hierarchy, LinesOf128BytesWork) {
  MachineModel machine = plain_machine(3 << 20, 12, 0, 16);
  machine.line_bytes = 128;
  const auto memory = make_hierarchy(machine);
  CoreState& core = memory->add_core();
  Misses misses;
  for (uint64_t i = 0; i < 1 << 20; ++i) misses.add(load(core, i * 8));
  EXPECT_EQ(misses.l1, (1U << 20) * 8 / 128);
  EXPECT_EQ(misses.memory, misses.l1);
}

}  // namespace
}  // namespace culprit::simulate
