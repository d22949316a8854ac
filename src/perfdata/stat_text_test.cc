#include "perfdata/stat_text.h"

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
  EXPECT_EQ(profile.counts[0].value, 500u);  // half of the time counted half of what perf says
  EXPECT_EQ(profile.counts[0].time_enabled_ns, 1000000u);
  EXPECT_EQ(profile.counts[1].value, 600u);
  EXPECT_EQ(profile.events[1].unit, Unit::ns);
  EXPECT_EQ(profile.counts[2].value, 500000u);
  EXPECT_TRUE(profile.machine.has_pmu);
  EXPECT_EQ(profile.ledger.amount(ledger::kDamagedRecords), 2u);
}

}  // namespace
}  // namespace culprit
