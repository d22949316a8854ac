#include "locality/locality.h"

#include <gtest/gtest.h>

#include "locality/test_locality.h"

namespace culprit {
namespace {

TEST(Locality, RowsAreStatementsHottestFirst) {
  MadeLocality made;
  const auto report = made.make();
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->rows.size(), 2u);
  EXPECT_EQ(report->rows[0].spot.label(), "mill.c:12");
  EXPECT_EQ(report->events.value_of(report->rows[0].use).value, 6000);
  EXPECT_EQ(report->rows[0].use.waits, 5000);
  EXPECT_EQ(report->rows[0].use.accesses, 200u);
  EXPECT_EQ(report->rows[1].use.misses[0], 100u);
  // 1600 of 200 x 64 bytes; 1600 of 100 x 64, each used 4 times.
  EXPECT_EQ(compute_spatial_percent(report->rows[0].use.levels[0], 64), 12.5);
  EXPECT_EQ(compute_temporal_use(report->rows[0].use.levels[0]), 0);
  EXPECT_EQ(compute_spatial_percent(report->rows[1].use.levels[0], 64), 25);
  EXPECT_EQ(compute_temporal_use(report->rows[1].use.levels[0]), 3);
  EXPECT_EQ(report->totals.levels[0].lines, 300u);
  EXPECT_EQ(report->totals.levels[1].lines, 50u);
}

TEST(Locality, NothingBroughtInHasNoMeasures) {
  EXPECT_FALSE(compute_spatial_percent({}, 64));
  EXPECT_FALSE(compute_temporal_use({}));
  LineUse unused;
  unused.lines = 3;
  EXPECT_EQ(compute_spatial_percent(unused, 64), 0);
  EXPECT_FALSE(compute_temporal_use(unused));
}

TEST(Locality, TemporalUseOfASampleIsNotNegative) {
  LineUse scaled;
  scaled.bytes_touched = 100'001;  // each sum was rounded by itself
  scaled.bytes_accessed = 100'000;
  EXPECT_EQ(compute_temporal_use(scaled), 0);
}

// A short run has no samples of what its model has most of.
TEST(Locality, SaysWhyAFigureIsNotThere) {
  MadeLocality made;
  Profile& p = made.test.profile;
  p.events[4].name = p.strings.intern("instructions");
  made.add_measured(7, 0);
  p.histograms.back().offsets[0] = FileOffset(0x223);  // line 14, which accesses nothing
  auto report = made.make();
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->rows.size(), 3u);
  EXPECT_EQ(report->rows[0].spot.label(), "mill.c:14");
  EXPECT_EQ(report->rows[1].spot.label(), "mill.c:12");  // 6,000 modelled cycles, 200 accesses
  EXPECT_EQ(report->rows[2].spot.label(), "mill.c:11");  // 4,000 and 800
  std::string text = print_locality(p, *report, Format::text, {.width = 500});
  EXPECT_NE(
      text.find(
          "\n-: in ~cycles none of the 7 samples is there (a longer run has more); where only "
          "cycles stand it was not simulated, as the kernel never is.\n"),
      std::string::npos)
      << text;
  MadeLocality whole;
  report = whole.make();
  text = print_locality(whole.test.profile, *report, Format::text, {.width = 500});
  EXPECT_EQ(text.find("\n-: "), std::string::npos) << text;
}

TEST(Locality, WhatTheLimitCutsIsSummed) {
  MadeLocality made;
  const auto report = made.make({.limit = 1});
  ASSERT_EQ(report->rows.size(), 1u);
  EXPECT_EQ(report->rest_rows, 1u);
  EXPECT_EQ(report->rest.levels[0].lines, 100u);
}

TEST(Locality, APartHasItsEdges) {
  MadeLocality made;
  const auto report = made.make({.part = "mill.c:11"});
  ASSERT_TRUE(report) << report.error().message;
  const PartLocality& part = *report->part;
  EXPECT_EQ(part.use.accesses, 800u);
  const LevelEdges& l1d = part.levels[0];
  ASSERT_EQ(l1d.reused_by.size(), 2u);
  EXPECT_TRUE(l1d.reused_by[0].is_itself);
  EXPECT_EQ(l1d.reused_by[0].count, 600u);
  EXPECT_EQ(l1d.reused_by[1].spot.label(), "mill.c:12");
  EXPECT_EQ(l1d.evicted_by_conflict[0].count, 90u);
  EXPECT_EQ(l1d.evicted_by_capacity[0].count, 6u);
  ASSERT_EQ(l1d.refetches.size(), 1u);
  EXPECT_EQ(l1d.refetches[0].spot.label(), "mill.c:12");
  EXPECT_EQ(l1d.refetches[0].count, 40u);
  EXPECT_EQ(part.levels[1].reuses_of[0].count, 1u);
  // Lines: what left, and what was there at the end.
  EXPECT_EQ(part.use.levels[0].lines, 90u + 6u + part.use.levels[0].lines_at_end);
  EXPECT_EQ(report->rows.size(), 1u);
  EXPECT_EQ(report->totals.accesses, 1000u);
}

TEST(Locality, AFunctionIsItsLinesAndItsKinds) {
  MadeLocality made;
  const auto report = made.make({.by = LocalityBy::function, .part = "grind"});
  ASSERT_TRUE(report) << report.error().message;
  const auto& kinds = report->part->kinds;
  const auto kind = [](AccessKind of) { return static_cast<size_t>(of); };
  EXPECT_EQ(kinds[kind(AccessKind::integer_load)].accesses, 800u);
  EXPECT_EQ(kinds[kind(AccessKind::integer_load)].levels[0].lines, 100u);
  EXPECT_EQ(kinds[kind(AccessKind::float_load)].misses[0], 200u);
  EXPECT_EQ(kinds[kind(AccessKind::float_load)].levels[1].lines, 50u);
  EXPECT_EQ(kinds[kind(AccessKind::integer_store)].accesses, 0u);
  // Those that wait are of the kind that their instruction accesses.
  EXPECT_EQ(kinds[kind(AccessKind::integer_load)].waits, 1000);
  EXPECT_EQ(kinds[kind(AccessKind::float_load)].waits, 5000);
  EXPECT_EQ(report->part->use.waits, 6000);
  ASSERT_EQ(report->rows.size(), 1u);
  EXPECT_EQ(report->rows[0].spot.label(), "grind");
  // Lines of the part itself are told apart: 600 + 100.
  EXPECT_EQ(report->part->levels[0].reused_by.size(), 2u);
}

// Lines 11 and 12 are one statement where their text says so.
TEST(Locality, LinesOfAStatementAreOneRow) {
  MadeLocality made;
  std::vector<std::string>& lines = made.test.facts[kMill].sources[0].lines;
  lines[2] = "  n = n";
  lines[3] = "    + (n != 0);";
  const auto report = made.make();
  ASSERT_EQ(report->rows.size(), 1u);
  EXPECT_EQ(report->rows[0].spot.label(), "mill.c:11-12");
  EXPECT_EQ(report->rows[0].use.accesses, 1000u);
  EXPECT_EQ(made.make({.by = LocalityBy::line})->rows.size(), 2u);
  // One of its lines stands for all of it, and its edges are the statement's own.
  const auto part = made.make({.part = "mill.c:12"});
  EXPECT_EQ(part->part->name, "mill.c:11-12");
  EXPECT_EQ(part->part->use.accesses, 1000u);
  EXPECT_TRUE(part->part->levels[0].reused_by[0].is_itself);
  const auto line = made.make({.by = LocalityBy::line, .part = "mill.c:12"});
  EXPECT_EQ(line->part->name, "mill.c:12");
  EXPECT_EQ(line->part->use.accesses, 200u);
}

TEST(Locality, SaysWhatIsMissing) {
  MadeLocality made;
  const auto nothing = made.make({.part = "grnid"});
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find("did you mean grind"), std::string::npos);
  EXPECT_FALSE(made.make({.part = "mill.c:99"}));
  made.test.profile.environment["simulate.locality"] = "l1";
  EXPECT_FALSE(made.make({.level = CacheLevel::l2}));
  EXPECT_TRUE(made.make());
  made.test.profile.environment["simulate.line-bytes"] = "0";
  EXPECT_FALSE(made.make());
  made.test.profile.environment.clear();
  const auto none = made.make();
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--locality all"), std::string::npos);
}

// What a damaged or hostile file may hold: ids beyond their tables, columns that are too short.
TEST(Locality, SurvivesADamagedProfile) {
  MadeLocality made;
  Profile& p = made.test.profile;
  p.tenures.push_back(p.tenures[0]);
  p.tenures.back().location.image = ImageId(77u);
  p.tenures.back().level = CacheLevel::memory;
  p.edges.push_back(p.edges[0]);
  p.edges.back().to.image = ImageId(99u);
  p.edges.back().level = CacheLevel::stlb;
  p.histograms[0].columns[0].value.pop_back();
  p.histograms[0].columns.push_back(EventColumn{EventId(50u), {1, 1}, {1, 1}, {}});
  const auto report = made.make({.part = "grind"});
  ASSERT_TRUE(report);
  for (const Format format : {Format::text, Format::json, Format::csv}) {
    EXPECT_FALSE(print_locality(p, *report, format, {}).empty());
  }
}

TEST(Locality, CostIsMissesWithoutCycles) {
  MadeLocality made;
  made.test.profile.events[0].name = made.test.profile.strings.intern("other");
  const auto report = made.make();
  EXPECT_EQ(report->events.cost, UseEvents::Cost::misses);
  EXPECT_EQ(report->events.value_of(report->rows[0].use).value, 200);
  EXPECT_STREQ(report->events.heading(), "=misses");
}

/// A sample of sets: each row of the made one is of sets that are for certain, and there are four
/// random groups that say the same of 0x210, three of 0x214.
struct MadeSample : MadeLocality {
  MadeSample() {
    Profile& p = test.profile;
    p.environment["simulate.sets"] = "1/16,1,1000";
    for (uint32_t stratum = 1; stratum <= 4; ++stratum) {
      Tenure one = p.tenures[0];
      one.stratum = stratum;
      p.tenures.push_back(one);
      Edge reuse = p.edges[1];
      reuse.stratum = stratum;
      p.edges.push_back(reuse);
      if (stratum == 4) continue;
      one = p.tenures[1];
      one.stratum = stratum;
      p.tenures.push_back(one);
    }
  }
};

TEST(Locality, OfASampleOfSetsHasErrors) {
  MadeSample made;
  const auto report = made.make();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->caches.sampling.one_of, 16u);
  EXPECT_EQ(report->caches.sampling.random_groups, 4u);
  const auto row = std::find_if(report->rows.begin(), report->rows.end(),
                                [](const StatementRow& one) { return one.spot.line == 11; });
  ASSERT_NE(row, report->rows.end());
  const LineUse& use = row->use.levels[0];
  EXPECT_EQ(use.lines, 500u);  // the sum of all strata
  // 400 of weight 16 are 25: 1.96 x root(25 x 15/16) x 16.
  EXPECT_NEAR(*estimate_lines_error(use, report->caches.sampling).half_width, 151.8, 0.1);
  const auto other = std::find_if(report->rows.begin(), report->rows.end(),
                                  [](const StatementRow& one) { return one.spot.line == 12; });
  EXPECT_FALSE(estimate_spatial_error(other->use.levels[0], report->caches).half_width);
  const std::string text = print_locality(made.test.profile, *report, Format::text, {});
  EXPECT_NE(text.find("too few sets"), std::string::npos);
  EXPECT_NE(text.find("--sets all"), std::string::npos);
  EXPECT_NE(text.find("25±3 %"), std::string::npos) << text;  // 16 of 64 bytes, 3 in 25
  EXPECT_NE(text.find("12.5 %*"), std::string::npos) << text;
}

TEST(Locality, EdgesOfASampleHaveErrors) {
  MadeSample made;
  const auto report = made.make({.part = "mill.c:11"});
  ASSERT_TRUE(report) << report.error().message;
  const std::vector<EdgeRow>& reused = report->part->levels[0].reused_by;
  ASSERT_EQ(reused.size(), 2u);
  EXPECT_EQ(reused[0].count, 600u);
  EXPECT_EQ(reused[1].count, 500u);
  EXPECT_EQ(reused[1].groups, (std::vector<uint64_t>{100, 100, 100, 100}));
  const std::string json = print_locality(made.test.profile, *report, Format::json, {});
  EXPECT_NE(json.find("\"error\": 151.8"), std::string::npos);
  EXPECT_NE(json.find("\"error\": null"), std::string::npos);
}

}  // namespace
}  // namespace culprit
