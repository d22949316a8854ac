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
  ASSERT_EQ(report->rows.size(), 1u);
  EXPECT_EQ(report->rows[0].spot.label(), "grind");
  // Its own lines are told apart: 600 + 100.
  EXPECT_EQ(report->part->levels[0].reused_by.size(), 2u);
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

}  // namespace
}  // namespace culprit
