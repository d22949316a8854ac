#include "counts/count_table.h"

#include <gtest/gtest.h>

#include "counts/print_counts.h"

namespace culprit {
namespace {

/// A profile with one run's context and these events.
Profile make_profile(std::initializer_list<const char*> events) {
  Profile profile;
  Run run;
  run.command = profile.strings.intern("./a.out");
  run.duration_ns = 2'000'000'000;
  profile.runs.push_back(run);
  Context context;
  context.run = RunId(0u);
  profile.contexts.push_back(context);
  for (const char* name : events) {
    Event event;
    event.name = profile.strings.intern(name);
    event.unit = std::string_view(name) == "task-clock" ? Unit::ns : Unit::events;
    profile.events.push_back(event);
  }
  return profile;
}

Count make_count(unsigned event, uint64_t value, uint64_t enabled, uint64_t running,
                 uint32_t interval = 0, uint32_t repetition = 0) {
  return {ContextId(0u), EventId(event), interval, repetition, value, enabled, running};
}

TEST(CountTable, AddsUpIntervals) {
  Profile profile = make_profile({"page-faults"});
  profile.counts = {make_count(0, 10, 5, 5, 0), make_count(0, 32, 5, 5, 1)};
  const CountTable table = make_count_table(profile, {});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].value, 42);
  EXPECT_EQ(table.rows[0].counted_ratio, 1);
  EXPECT_EQ(table.rows[0].interval95, (Interval{42, 42}));  // exact
}

TEST(CountTable, WhatHadNoCounterIsNotCounted) {
  Profile profile = make_profile({"cycles", "instructions"});
  profile.counts = {make_count(0, 0, 1000, 0), make_count(1, 0, 0, 0)};
  const CountTable table = make_count_table(profile, {});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_FALSE(table.rows[0].value.has_value());
  EXPECT_NE(table.rows[0].reason.find("never had a counter"), std::string::npos);
  EXPECT_FALSE(table.rows[1].value.has_value());
  EXPECT_NE(print_counts_text(table).find("not counted"), std::string::npos);
  EXPECT_TRUE(print_counts_csv(table, ";").starts_with("<not counted>;events;cycles;0.00;;;"));
}

TEST(CountTable, RefusedEventsKeepTheirPlaceAndReason) {
  Profile profile = make_profile({"cycles", "page-faults"});
  profile.counts = {make_count(1, 7, 1, 1)};
  const CountTable table = make_count_table(profile, {{EventId(0u), "no hardware PMU"}});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].reason, "no hardware PMU");
  EXPECT_EQ(table.rows[1].value, 7);
}

TEST(CountTable, ScalesByTheTimeWithACounter) {
  Profile profile = make_profile({"cycles"});
  // 10 per unit of time while it was counted: 400 in 40.
  profile.counts = {make_count(0, 50, 10, 5, 0), make_count(0, 50, 10, 5, 1),
                    make_count(0, 30, 10, 3, 2), make_count(0, 70, 10, 7, 3)};
  const CountTable table = make_count_table(profile, {});
  EXPECT_EQ(table.rows[0].value, 400);
  EXPECT_DOUBLE_EQ(table.rows[0].counted_ratio, 0.5);
  ASSERT_TRUE(table.rows[0].interval95.has_value());
  EXPECT_NE(print_counts_text(table).find("counted 50.0 % of the time"), std::string::npos);
}

TEST(CountTable, OneSliceOfASharedCounterHasNoError) {
  Profile profile = make_profile({"cycles"});
  profile.counts = {make_count(0, 50, 10, 5)};
  const CountTable table = make_count_table(profile, {});
  EXPECT_EQ(table.rows[0].value, 100);
  EXPECT_FALSE(table.rows[0].interval95.has_value());
  EXPECT_NE(print_counts_text(table).find("error unknown: one reading"), std::string::npos);
  profile.counts = {make_count(0, 50, 10, 5, 0), make_count(0, 50, 10, 5, 1)};
  const std::string text = print_counts_text(make_count_table(profile, {}));
  EXPECT_NE(text.find("error unknown: too short"), std::string::npos);
}

TEST(CountTable, RepetitionsGiveMeanAndInterval) {
  Profile profile = make_profile({"page-faults"});
  profile.counts = {make_count(0, 10, 1, 1, 0, 0), make_count(0, 12, 1, 1, 0, 1),
                    make_count(0, 14, 1, 1, 0, 2)};
  const CountTable table = make_count_table(profile, {});
  EXPECT_EQ(table.repetitions, 3u);
  EXPECT_DOUBLE_EQ(*table.rows[0].value, 12);
  // Deviation 2, t(2) = 4.3027: 4.3027 * 2 / sqrt 3 = 4.968.
  EXPECT_NEAR(table.rows[0].interval95->high, 16.968, 0.001);
}

TEST(CountTable, MeansForProgramsHaveAllTheirDigits) {
  Profile profile = make_profile({"page-faults"});
  profile.counts = {make_count(0, 1'234'567, 1, 1, 0, 0), make_count(0, 1'234'568, 1, 1, 0, 1)};
  const std::string line = print_counts_csv(make_count_table(profile, {}), ",");
  EXPECT_TRUE(line.starts_with("1234567.5,")) << line;
}

TEST(CountTable, RatesDivideWhatBelongsTogether) {
  Profile profile = make_profile({"task-clock", "cycles:u", "instructions:u", "instructions"});
  profile.counts = {make_count(0, 1'000'000'000, 1, 1), make_count(1, 1000, 1, 1),
                    make_count(2, 2500, 1, 1), make_count(3, 5000, 1, 1)};
  const CountTable table = make_count_table(profile, {});
  EXPECT_DOUBLE_EQ(table.rows[0].rate->value, 0.5);  // 1 s of CPU in 2 s
  EXPECT_DOUBLE_EQ(table.rows[2].rate->value, 2.5);
  EXPECT_EQ(table.rows[2].rate->unit, "per cycle");
  EXPECT_EQ(table.rows[3].rate->unit, "/s of CPU time");  // cycles:u are not its cycles
}

TEST(CountTable, IgnoresRowsThatPointNowhere) {
  Profile profile = make_profile({"cycles"});
  profile.counts = {make_count(9, 1, 1, 1)};
  profile.counts.push_back({ContextId(7u), EventId(0u), 0, 0, 1, 1, 1});
  EXPECT_TRUE(make_count_table(profile, {}).rows.empty());
}

}  // namespace
}  // namespace culprit
