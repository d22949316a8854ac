#include "locality/advice.h"

#include <gtest/gtest.h>

#include "locality/test_locality.h"
#include "locality/waits.h"

namespace culprit {
namespace {

/// Loops at 0x210-0x212 (mill.c:11) and 0x214-0x216 (mill.c:12).
struct MadeLoops : MadeLocality {
  MadeLoops() {
    Profile& p = test.profile;
    p.edges.clear();
    p.tenures[0].bytes_touched = 100 * 64;  // line 11 uses all of its lines
    const auto branch = [&](uint64_t from, uint64_t to) {
      p.branch_counts.push_back({ContextId(0u), at(from), at(to), 100, 0, 0, 0, 0});
    };
    p.branch_counts.clear();
    branch(0x212, 0x210);
    branch(0x216, 0x214);
    // All of its 10,000 cycles: 1,000 + 5,000 of them for data from L2.
  }
  std::vector<LocalityAdvice> advise() {
    const FactsLookup facts = test.lookup();
    CodeIndex code(test.profile, facts);
    LoopScales scales(test.profile, code);
    return make_locality_advice(test.profile, code, *find_caches(test.profile), scales);
  }
};

TEST(LocalityAdvice, SwapsALoopThatStepsOverLines) {
  MadeLoops made;
  // 120 of the 200 lines of line 12 come back, of which 12.5 % is used; 50 came from beyond L2.
  made.test.profile.tenures[2].bytes_touched = 50 * 64;  // L2 keeps them until all is used
  made.test.profile.edges = {edge(0x214, 0x214, EdgeKind::refetch_capacity, 120)};
  const auto advice = made.advise();
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice[0].kind, AdviceKind::swap_loops);
  // 5,000 cycles x 120 / (200 - 50).
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 4000);
  EXPECT_DOUBLE_EQ(advice[0].share, 0.4);
  EXPECT_EQ(advice[0].lines, std::vector<std::string>{"mill.c:12"});
  EXPECT_NE(advice[0].reason.find("beside the waits is not in the figure"), std::string::npos);
}

TEST(LocalityAdvice, FusesLoopsThatHandOnLinesTooLate) {
  MadeLoops made;
  made.test.profile.tenures[1].bytes_touched = 200 * 64;  // nothing is wrong with the layout
  made.test.profile.edges = {edge(0x210, 0x214, EdgeKind::refetch_capacity, 75)};
  const auto advice = made.advise();
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice[0].kind, AdviceKind::fuse_loops);
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 2500);
  EXPECT_EQ(advice[0].lines, (std::vector<std::string>{"mill.c:11", "mill.c:12"}));
}

TEST(LocalityAdvice, BlocksALoopThatComesBackToWholeLines) {
  MadeLoops made;
  made.test.profile.tenures[1].bytes_touched = 200 * 64;
  made.test.profile.edges = {edge(0x214, 0x214, EdgeKind::refetch_capacity, 150)};
  const auto advice = made.advise();
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::block_loops);
}

TEST(LocalityAdvice, PadsWhereConflictsTookTheLines) {
  MadeLoops made;
  made.test.profile.tenures[1].bytes_touched = 200 * 64;
  made.test.profile.edges = {edge(0x214, 0x214, EdgeKind::refetch_conflict, 150)};
  const auto advice = made.advise();
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::pad_arrays);
  EXPECT_NE(advice[0].reason.find("4,096 B"), std::string::npos) << advice[0].reason;
}

TEST(LocalityAdvice, LayoutOfLinesThatAreLittleUsed) {
  MadeLoops made;
  made.test.profile.tenures[2].bytes_touched = 50 * 8;  // L2, too, uses 12.5 %
  const auto advice = made.advise();
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice[0].kind, AdviceKind::split_layout);
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 5000 * 0.875);
}

/// Loops of which line 12 accesses a block of 4 MiB (ObjectId 1) that grind asked for.
struct MadeObject : MadeLoops {
  MadeObject() {
    Profile& p = test.profile;
    for (Tenure& tenure : p.tenures) tenure.bytes_touched = 64 * tenure.lines;
    p.objects.resize(2);
    p.objects[1].kind = ObjectKind::heap;
    p.stacks = {{StackId(), at(0x223)}};
    p.objects[1].calls = StackId(0u);
    p.objects[1].blocks = 1;
    p.objects[1].size_bytes = p.objects[1].total_bytes = 4 << 20;
    p.histograms[0].objects = {kUnknownObject, ObjectId(1u)};
    p.tenures[1].object = ObjectId(1u);
  }
};

/// Line 11 fills a table of structs of two longs, one line of it after the other; line 12 reads one
/// of the two, `value`.
struct MadeTable : MadeLoops {
  explicit MadeTable(uint64_t size_bytes) {
    Profile& p = test.profile;
    p.objects.resize(2);
    p.objects[1].kind = ObjectKind::global;
    p.objects[1].name = p.strings.intern("table");
    p.objects[1].size_bytes = size_bytes;
    p.objects[1].site = {kMill, FileOffset(0x900)};
    ImageFacts& facts = test.facts[kMill];
    for (const uint64_t offset : {0UL, 8UL}) {
      facts.fields.push_back({FileOffset(0x900), false, facts.strings.intern("row"), 16,
                              facts.strings.intern(offset == 0 ? "key" : "value"),
                              facts.strings.intern("long"), offset, 8});
    }
    p.access_offsets = {{ContextId(0u), at(0x210), ObjectId(1u), 0, 8, 0, 3},
                        {ContextId(0u), at(0x214), ObjectId(1u), 8, 16, 0, 3}};
    p.histograms[0].objects = {ObjectId(1u), ObjectId(1u)};
    for (Tenure& tenure : p.tenures) tenure.object = ObjectId(1u);
    p.tenures[2].bytes_touched = 50 * 8;  // L2, too, uses 12.5 %
    p.tenures[0].lines_prefetched = 100;
    p.tenures[1].lines_prefetched = 200;
  }
  /// Of splitting the struct: 0 if that is not advised.
  double saved() {
    for (const LocalityAdvice& one : advise()) {
      EXPECT_NE(one.title, "lay out table so that lines are used");
      if (one.title != "split row") continue;
      EXPECT_EQ(one.lines, std::vector<std::string>{"mill.c:12"});
      return one.saved_cycles;
    }
    return 0;
  }
};

// Whatever the loop that fills the table waits, it uses all of its lines. Half of the lines come to
// the other one, which waits 5,000 cycles.
TEST(LocalityAdvice, SplittingSavesNothingOfTheLoopThatUsesAllMembers) {
  MadeTable made(4 << 20);
  EXPECT_DOUBLE_EQ(made.saved(), 2500);
  made.test.profile.histograms[0].columns[1].value = {3900, 5000};
  EXPECT_DOUBLE_EQ(made.saved(), 2500);
  // Nor where each line is filled several times, and half of the table would fit L1D.
  made.test.profile.objects[1].size_bytes = 16 << 10;
  made.test.profile.edges = {edge(0x210, 0x210, EdgeKind::refetch_capacity, 90)};
  made.test.profile.edges[0].object = ObjectId(1u);
  EXPECT_DOUBLE_EQ(made.saved(), 2500);
}

// Elements accessed in any order are each a line of their own, as packed as they may be, until the
// cache holds them all: 160 lines of a table of 20 KiB instead of 200.
TEST(LocalityAdvice, SplittingSavesOfRandomAccessesWhatFits) {
  MadeTable made(4 << 20);
  made.test.profile.tenures[1].lines_prefetched = 0;
  EXPECT_DOUBLE_EQ(made.saved(), 0);
  made.test.profile.objects[1].size_bytes = 20 << 10;
  EXPECT_DOUBLE_EQ(made.saved(), 5000 * (1 - 160.0 / 200));
}

// The 160 lines that are left do not fit an L1D of 4 KiB: they come from L2 then, no longer from
// L3.
TEST(LocalityAdvice, WhatFitsAFartherCacheIsStillWaitedFor) {
  MadeTable made(20 << 10);
  Profile& p = made.test.profile;
  p.events[1].name = p.strings.intern("sim:load-l3-cycles");
  p.environment["simulate.l1d"] = "4096/8";
  p.tenures[1].lines_prefetched = 0;
  p.tenures[2].lines = 200;
  const double fewer = 1 - 160.0 / 200;
  for (const char* const unknown : {"", "4/14/44", "near/14/44/204/9", "0/0/0/0"}) {
    p.environment["simulate.latencies"] = unknown;
    EXPECT_DOUBLE_EQ(made.saved(), 5000 * fewer) << unknown;
  }
  p.environment["simulate.latencies"] = "4/14/44/204";
  EXPECT_DOUBLE_EQ(made.saved(), 5000 * fewer * (1 - 10.0 / 40));
}

TEST(LocalityAdvice, HugePagesWhereAddressesAreTranslatedTooOften) {
  MadeObject made;
  Profile& p = made.test.profile;
  p.events[1].name = p.strings.intern("sim:load-translation-cycles");
  const auto advice = made.advise();
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::huge_pages);
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 5000);
  EXPECT_DOUBLE_EQ(advice[0].share, 0.5);
  EXPECT_NE(advice[0].reason.find("1,024 pages"), std::string::npos) << advice[0].reason;
  EXPECT_EQ(advice[0].lines, std::vector<std::string>{"mill.c:12"});
  p.objects[1].size_bytes = p.objects[1].total_bytes = 1 << 20;  // less than one huge page
  EXPECT_TRUE(made.advise().empty());
}

TEST(LocalityAdvice, ObjectsOfOneStatementAreOnePiece) {
  MadeObject made;
  Profile& p = made.test.profile;
  p.events[1].name = p.strings.intern("sim:load-translation-cycles");
  // The same statement allocates for line 11, called from elsewhere.
  p.objects.push_back(p.objects[1]);
  p.stacks.push_back({StackId(), at(0x218)});
  p.stacks.push_back({StackId(1u), at(0x223)});
  p.objects[2].calls = StackId(2u);
  p.histograms[0].objects[0] = ObjectId(2u);
  p.tenures[0].object = ObjectId(2u);
  const auto advice = made.advise();
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 1000 + 5000);
  EXPECT_NE(advice[0].reason.find("2,048 pages"), std::string::npos) << advice[0].reason;
}

// Line 12 takes from line 11's core lines of a table, beside which lies a block that line 11
// writes: whoever is to put them apart must know both.
TEST(LocalityAdvice, FalseSharingNamesTheDataOfBothLoops) {
  MadeObject made;
  Profile& p = made.test.profile;
  p.events[1].name = p.strings.intern("sim:load-other-core-modified-cycles");
  p.objects.resize(3);
  p.objects[2].kind = ObjectKind::global;
  p.objects[2].name = p.strings.intern("table");
  p.tenures[0].object = ObjectId(2u);
  p.edges = {edge(0x210, 0x214, EdgeKind::sharing_false, 30)};
  const auto advice = made.advise();
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice[0].kind, AdviceKind::false_sharing);
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 5000);
  ASSERT_EQ(advice[0].objects.size(), 2u);
  EXPECT_EQ(advice[0].objects[1], "table");
}

TEST(LocalityAdvice, PaddingComesBeforeSwappingWhereItSavesTheSame) {
  MadeLoops made;
  made.test.profile.tenures[2].bytes_touched = 50 * 64;
  made.test.profile.edges = {edge(0x214, 0x214, EdgeKind::refetch_conflict, 120)};
  const auto advice = made.advise();
  ASSERT_GE(advice.size(), 2u);
  EXPECT_EQ(advice[0].kind, AdviceKind::pad_arrays);
  EXPECT_EQ(advice[1].kind, AdviceKind::swap_loops);
}

TEST(LocalityAdvice, NobodyNeedStoreWhatNobodyLoads) {
  MadeObject made;
  Profile& p = made.test.profile;
  p.events[1].name = p.strings.intern("sim:store-cycles");
  EXPECT_TRUE(made.advise().empty());  // line 12 loads it
  p.events[2].name = p.strings.intern("L1-dcache-stores");
  const auto advice = made.advise();
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].kind, AdviceKind::dead_stores);
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 6000);  // all that is waited for it
}

// Of 4,000 and 6,000 modelled cycles 40,000 and 60,000 were measured, then 30,000 and 90,000. Of
// the 6,000, which save 4,000, 5,000 are waits: nearly all that is measured beyond them is theirs.
TEST(LocalityAdvice, SavesMeasuredCyclesOfTheLoop) {
  MadeLoops made;
  made.test.profile.tenures[2].bytes_touched = 50 * 64;
  made.test.profile.edges = {edge(0x214, 0x214, EdgeKind::refetch_capacity, 120)};
  // Instructions of the simulated run are what tells that there were two.
  made.test.profile.events[4].name = made.test.profile.strings.intern("instructions");
  MadeLoops other = made;
  made.add_measured(40, 60);
  auto advice = made.advise();
  ASSERT_FALSE(advice.empty());
  const double of_waits = 5000.0 * 5000 / (5000.0 * 5000 + 300.0 * 300);
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 4000 * (5000 + 54'000 * of_waits) / 5000);
  EXPECT_DOUBLE_EQ(advice[0].share, advice[0].saved_cycles / 100'000);
  EXPECT_NE(advice[0].reason.find("10 times as long"), std::string::npos) << advice[0].reason;
  other.add_measured(30, 90);
  advice = other.advise();
  EXPECT_DOUBLE_EQ(advice[0].saved_cycles, 4000 * (5000 + 84'000 * of_waits) / 5000);
  EXPECT_DOUBLE_EQ(advice[0].share, advice[0].saved_cycles / 120'000);
}

// Whatever tells by itself, and what does not: modelled cycles of 4,000 and 6,000 become those that
// were measured; samples in code without modelled ones are nobody's.
TEST(LoopScales, AddUpToWhatWasMeasured) {
  for (const auto& [first, second] : {std::pair(30, 90), std::pair(10, 20), std::pair(60, 50)}) {
    MadeLoops made;
    Profile& p = made.test.profile;
    p.events[4].name = p.strings.intern("instructions");
    made.add_measured(uint64_t(first), uint64_t(second));
    Histogram other = p.histograms.back();
    other.offsets = {FileOffset(0x223)};
    other.columns[0].samples = {70};
    other.columns[0].value = {70'000};
    p.histograms.push_back(std::move(other));
    const FactsLookup facts = made.test.lookup();
    CodeIndex code(p, facts);
    LoopScales scales(p, code);
    const double shared = 4000 * scales.of(scales.loops().row_of(at(0x210))) +
                          6000 * scales.of(scales.loops().row_of(at(0x214)));
    EXPECT_DOUBLE_EQ(shared, 1000.0 * (first + second));
    EXPECT_DOUBLE_EQ(scales.measured_cycles(), shared + 70'000);
  }
}

// 4,000 and 6,000 modelled cycles, and 45 samples, all of them in the second loop: the first one is
// expected to have 18. With one before them as a guess (18 + 0 of 1 + 18) it has 18/19 of a sample,
// the second one 27 x 46/28; these add up to 45.30.
TEST(LoopScales, FewSamplesOfALoopSpeakAgainstThoseOfTheRest) {
  MadeLoops made;
  Profile& p = made.test.profile;
  p.events[4].name = p.strings.intern("instructions");
  made.add_measured(0, 45);
  const FactsLookup facts = made.test.lookup();
  CodeIndex code(p, facts);
  LoopScales scales(p, code);
  const double first = 18.0 / 19;
  const double second = 27 * 46.0 / 28;
  EXPECT_NEAR(4000 * scales.of(scales.loops().row_of(at(0x210))), 45'000 * first / (first + second),
              1e-6);
  EXPECT_NEAR(6000 * scales.of(scales.loops().row_of(at(0x214))),
              45'000 * second / (first + second), 1e-6);
}

TEST(LocalityAdvice, NoneUnderTwoPercentAndNoneWithoutCycles) {
  MadeLoops made;
  made.test.profile.tenures[1].bytes_touched = 200 * 64;
  made.test.profile.edges = {edge(0x214, 0x214, EdgeKind::refetch_capacity, 5)};
  EXPECT_TRUE(made.advise().empty());
  made.test.profile.edges[0].count = 150;
  EXPECT_FALSE(made.advise().empty());
  made.test.profile.events[0].name = made.test.profile.strings.intern("other");
  EXPECT_TRUE(made.advise().empty());
}

TEST(LocalityAdvice, PiecesThatSaveTheSameSaySo) {
  MadeLoops made;
  made.test.profile.tenures[1].bytes_touched = 200 * 64;
  made.test.profile.edges = {edge(0x214, 0x214, EdgeKind::refetch_capacity, 90),
                             edge(0x210, 0x214, EdgeKind::refetch_capacity, 60)};
  const auto advice = made.advise();
  ASSERT_EQ(advice.size(), 2u);
  // 2,000 against 3,000 cycles: blocking is the harder one, and saves less than twice as much.
  EXPECT_EQ(advice[0].kind, AdviceKind::fuse_loops);
  EXPECT_EQ(advice[1].kind, AdviceKind::block_loops);
  EXPECT_FALSE(advice[0].overlaps);
  EXPECT_EQ(advice[1].overlaps, 0u);
}

TEST(Waits, AreSavedLevelByLevel) {
  Waits waits;
  waits.l2 = 100;
  waits.l3 = 200;
  waits.memory = 400;
  // L2 has 6 of 10 lines, L3 has 3 of the other 4. 5 come back to L1D, 2 of these from beyond L2.
  const std::array<LinesIn, 3> levels = {{{10, 5}, {4, 2}, {1, 0}}};
  EXPECT_DOUBLE_EQ(compute_saved_by_hits(waits, levels), 100 * 3.0 / 6 + 600 * 2.0 / 4);
  const std::array<LinesIn, 3> with_third = {{{10, 5}, {4, 2}, {2, 1}}};
  EXPECT_DOUBLE_EQ(compute_saved_by_hits(waits, with_third),
                   100 * 3.0 / 6 + 200 * 1.0 / 2 + 400 * 1.0 / 2);
  EXPECT_EQ(compute_saved_by_hits(waits, {}), 0);
}

// 800 of 1,000 cycles are waits, 500 were measured: the others take about as long as modelled.
TEST(Waits, AreWhatTheModelKnowsLeastOf) {
  Waits waits;
  waits.all = 1000;
  waits.l3 = 700;
  waits.translation = 100;
  const double of_waits = 800.0 * 800 / (800.0 * 800 + 60.0 * 60);
  EXPECT_DOUBLE_EQ(scale_waits(waits, 0.5), (800 - 500 * of_waits) / 800);
  EXPECT_DOUBLE_EQ(scale_waits(waits, 2), (800 + 1000 * of_waits) / 800);
  EXPECT_EQ(scale_waits(waits, 1), 1);
  EXPECT_EQ(scale_waits(waits, 0.1), 0);  // none of them was waited for
  EXPECT_EQ(scale_waits({}, 3), 3);
}

// A quarter of the lines still comes, of which half comes back; L2 holds those, L1D does not.
TEST(Waits, AreSavedBySplittingAStruct) {
  Waits waits;
  waits.l2 = 100;
  waits.l3 = 200;
  waits.memory = 400;
  const std::array<LinesIn, 3> back = {{{10, 5}, {4, 2}, {1, 0}}};
  const std::array<PackedLines, 3> packed = {{{0.25, 0, 0}, {0.25, 0, 1}, {0.25, 0, 1}}};
  EXPECT_DOUBLE_EQ(compute_saved_by_split(waits, packed, back, {}), 0.75 * 700 + 0.25 * 600 * 0.5);
  EXPECT_EQ(compute_saved_by_split(waits, {}, back, {}), 0);
  // L2 takes 10 cycles more than L1D, L3 40, memory 200.
  const Latencies latencies = {4, 14, 44, 204};
  EXPECT_DOUBLE_EQ(compute_saved_by_split(waits, packed, back, latencies),
                   0.75 * 700 + 0.25 * (200 * (1 - 10.0 / 40) + 400 * (1 - 10.0 / 200)) * 0.5);
}

// Of elements in any order a quarter of the lines comes; the others stay in L2.
TEST(Waits, OfWhatStaysInAFartherLevelAreThoseOfThatLevel) {
  Waits waits;
  waits.l2 = 100;
  waits.l3 = 200;
  waits.memory = 400;
  const std::array<PackedLines, 3> packed = {{{1, 0, 0}, {0.25, 0.75, 0}, {0.25, 0.75, 0}}};
  const Latencies latencies = {4, 14, 44, 204};
  EXPECT_DOUBLE_EQ(compute_saved_by_split(waits, packed, {}, latencies),
                   0.75 * (200 * (1 - 10.0 / 40) + 400 * (1 - 10.0 / 200)));
}

}  // namespace
}  // namespace culprit
