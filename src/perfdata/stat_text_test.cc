#include "perfdata/stat_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(StatText, ReadsLinesOfPerfStat) {
  const auto plain = parse_stat_line("0.74,msec,task-clock,737588,100.00,0.658,CPUs utilized");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->event, "task-clock");
  EXPECT_EQ(plain->unit, "msec");
  EXPECT_EQ(plain->value, 0.74);
  EXPECT_EQ(plain->running_ns, 737588u);
  EXPECT_EQ(plain->interval, "");

  const auto repeated = parse_stat_line("49,,page-faults,1.36%,767155,62.50,65.022,K/sec");
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->event, "page-faults");
  EXPECT_EQ(repeated->running_percent, 62.5);

  const auto interval =
      parse_stat_line("     0.103777759,1.07,msec,task-clock,1068923,100.00,0.011,CPUs utilized");
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->event, "task-clock");
  EXPECT_EQ(interval->value, 1.07);
  EXPECT_EQ(interval->interval, "0.103777759");

  const auto cpu = parse_stat_line("CPU0,26,,cs,114814611,100.00,226.449,/sec");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->event, "cs");
  EXPECT_EQ(cpu->value, 26);
}

TEST(StatText, EventsMayHaveTheSeparatorInThem) {
  const auto line = parse_stat_line("123,,cpu/event=0xd1,umask=0x1/u,1000,25.00,,");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->event, "cpu/event=0xd1,umask=0x1/u");
  EXPECT_EQ(line->running_percent, 25);
}

TEST(StatText, WhatWasNotCountedHasNoValue) {
  const auto line = parse_stat_line("<not supported>;;cycles;0;100.00;;");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->event, "cycles");
  EXPECT_FALSE(line->value);
}

TEST(StatText, ReadsJson) {
  const auto line = parse_stat_line(
      R"({"interval" : 0.1, "counter-value" : "715.5", "unit" : "msec", "event" : "task-clock", )"
      R"("event-runtime" : 715078, "pcnt-running" : 50.00, "metric-value" : 4.6})");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->event, "task-clock");
  EXPECT_EQ(line->value, 715.5);
  EXPECT_EQ(line->running_percent, 50);
  EXPECT_FALSE(line->interval.empty());
}

TEST(StatText, OtherTextIsNone) {
  for (const char* text : {"", "a,b,c", "1,2,3,4,5,6", "{", "{}", "[1,2]",
                           "swapper     0 [000] 1.2: 1 cycles: ", "1,,,5,1.0", ",,,,,,,,,",
                           R"({"counter-value": {}, "event": 3})"}) {
    EXPECT_FALSE(parse_stat_line(text)) << text;
    EXPECT_FALSE(is_stat_text(text)) << text;
  }
  EXPECT_TRUE(is_stat_text("# started on Sat Nov 21 20:43:11 2026\n\n5,,cs,10,100.00,,\n"));
}

/// What perf scaled comes back as it printed it, though 25 % of 777 is no whole number.
TEST(StatText, ScaledCountsComeBackExactly) {
  for (const double value : {1.0, 777.0, 20'000'007.0, 123'456'789'012.0}) {
    for (const char* percent : {"25.00", "33.33", "0.01", "99.99", "62.50"}) {
      StatCounts counts;
      counts.add(
          *parse_stat_line(fmt::format("{:.0f},,my_own:event,10000000000,{},,", value, percent)));
      const Profile profile = counts.take(0);
      ASSERT_EQ(profile.counts.size(), 1u);
      const Count& count = profile.counts[0];
      const double part =
          static_cast<double>(count.time_running_ns) / static_cast<double>(count.time_enabled_ns);
      EXPECT_DOUBLE_EQ(static_cast<double>(count.value) * profile.events[0].scale / part, value);
      EXPECT_EQ(fmt::format("{:.2f}", 100 * part), percent);
      EXPECT_NEAR(static_cast<double>(count.time_running_ns), 1e10, 5000);
    }
  }
}

TEST(StatText, AddsUpToCountsWithTheTimeTheyHadACounter) {
  StatCounts counts;
  for (const char* text :
       {"CPU0,1000,,cycles,500000,50.00,,", "CPU1,600,,cycles,1000000,100.00,,",
        "0.5,msec,task-clock,500000,100.00,,", "<not counted>,,branch-misses,0,0.00,,"}) {
    const auto line = parse_stat_line(text);
    ASSERT_TRUE(line) << text;
    counts.add(*line);
  }
  const Profile profile = counts.take(2);
  ASSERT_EQ(profile.events.size(), 3u);
  ASSERT_EQ(profile.counts.size(), 3u);
  const double scale = profile.events[0].scale;
  EXPECT_DOUBLE_EQ(static_cast<double>(profile.counts[0].value) * scale, 500);  // half of the time
  EXPECT_EQ(profile.counts[0].time_running_ns, 500000u);
  EXPECT_EQ(profile.counts[0].time_enabled_ns, 1000000u);
  EXPECT_DOUBLE_EQ(static_cast<double>(profile.counts[1].value) * scale, 600);
  EXPECT_EQ(profile.events[1].unit, Unit::ns);
  EXPECT_EQ(profile.counts[2].value, 500000u);
  EXPECT_TRUE(profile.machine.has_pmu);
  EXPECT_EQ(profile.ledger.amount(ledger::kDamagedRecords), 2u);
}

}  // namespace
}  // namespace culprit
