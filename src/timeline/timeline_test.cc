// The profile of test_profile.h with times worked out by hand: 1,000 samples of 1 ms in 600 ms of 2
// CPUs, in slices of 100 ms; what is in no slice is said.

#include "timeline/timeline.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "attribute/test_profile.h"
#include "print/golden.h"

namespace culprit {
namespace {

constexpr uint64_t kMs = 1'000'000;

void add_time(TestProfile& test, uint32_t context, uint64_t width_ms, uint64_t begin_ms,
              uint32_t event, uint64_t samples, uint64_t value_ms) {
  test.profile.slice_counts.push_back({ContextId(context),
                                       width_ms * kMs,
                                       begin_ms * kMs,
                                       {EventId(event), samples, value_ms * kMs, 0}});
}

/// mill runs all of the time, its worker from 200 ms on, sort in the last 100 ms; mill's time
/// before 100 ms was kept in slices of 50 ms. 50 samples have no time.
TestProfile make_times() {
  TestProfile test = make_test_profile();
  Profile& profile = test.profile;
  Context kernel = profile.contexts[0];
  kernel.mode = Mode::kernel;
  profile.contexts.push_back(kernel);
  Event waits;
  waits.name = profile.strings.intern("off-cpu");
  waits.unit = Unit::ns;
  waits.engine = profile.strings.intern("software");
  profile.events.push_back(waits);
  add_time(test, 0, 50, 0, 0, 40, 40);
  add_time(test, 0, 50, 50, 0, 30, 30);
  for (uint64_t begin = 100; begin < 600; begin += 100) add_time(test, 0, 100, begin, 0, 80, 80);
  add_time(test, 3, 100, 300, 0, 20, 20);
  for (uint64_t begin = 200; begin < 600; begin += 100) add_time(test, 1, 100, begin, 0, 90, 90);
  add_time(test, 2, 100, 500, 0, 100, 100);
  add_time(test, 0, 100, 0, 1, 1, 25);
  // Waits are in histograms, too.
  profile.histograms.push_back(
      {ContextId(0u), ImageId(0u), {FileOffset(0x999)}, {{EventId(1u), {1}, {25 * kMs}, {}}}});
  return test;
}

Timeline made(const TestProfile& test, const TimelineOptions& options) {
  Result<Timeline> timeline = make_timeline(test.profile, test.lookup(), options);
  EXPECT_TRUE(timeline) << (timeline ? "" : timeline.error().message);
  return timeline ? *std::move(timeline) : Timeline{};
}

/// Samples of an event by slice, all lanes together.
std::vector<uint64_t> samples_of(const Timeline& timeline, size_t event) {
  std::vector<uint64_t> samples;
  for (const std::vector<Value>& slice : timeline.sums_of(0)) {
    samples.push_back(slice[event].samples);
  }
  return samples;
}

TEST(Timeline, AddsNarrowSlicesUpToTheWidest) {
  const Timeline timeline = made(make_times(), {});
  ASSERT_EQ(timeline.runs.size(), 1u);
  EXPECT_EQ(timeline.runs[0].width_ns, 100 * kMs);
  EXPECT_EQ(samples_of(timeline, 0), (std::vector<uint64_t>{70, 80, 170, 190, 170, 270}));
  EXPECT_EQ(samples_of(timeline, 1), (std::vector<uint64_t>{1, 0, 0, 0, 0, 0}));
}

TEST(Timeline, FewerSlicesAreSumsOfNeighbours) {
  EXPECT_EQ(samples_of(made(make_times(), {{}, {}, 3}), 0), (std::vector<uint64_t>{150, 360, 440}));
  EXPECT_EQ(samples_of(made(make_times(), {{}, {}, 4}), 0), (std::vector<uint64_t>{150, 360, 440}));
  EXPECT_EQ(samples_of(made(make_times(), {{}, {}, 1}), 0), (std::vector<uint64_t>{950}));
}

TEST(Timeline, WhatHasNoTimeIsNotLost) {
  const Timeline timeline = made(make_times(), {{RowLevel::thread}, {}, 0});
  uint64_t in_time = 0;
  for (const Lane& lane : timeline.lanes) in_time += lane.values[0].samples;
  EXPECT_EQ(in_time, 950u);
  EXPECT_EQ(timeline.without_time[0].samples, 50u);
  EXPECT_EQ(timeline.totals[0].samples, 1'000u);
}

TEST(Timeline, LanesAreBusiestFirstAndTellModesApart) {
  const Timeline timeline = made(make_times(), {{RowLevel::process, RowLevel::thread}, {}, 0});
  std::vector<std::string> names;
  for (const Lane& lane : timeline.lanes) names.push_back(*lane.who.thread);
  EXPECT_EQ(names, (std::vector<std::string>{"mill", "worker", "sort"}));
  const Lane& mill = timeline.lanes[0];
  EXPECT_EQ(mill.values[0].samples, 490u);
  ASSERT_EQ(mill.series.size(), 3u);
  EXPECT_EQ(mill.series[1].mode, Mode::kernel);
  EXPECT_EQ(mill.series[1].first, 3u);
  EXPECT_EQ(mill.series[1].values.size(), 1u);
  EXPECT_DOUBLE_EQ(mill.series[1].values[0].error, std::sqrt(20.0) * 1e6);  // Poisson's
}

TEST(Timeline, FiltersChooseThreads) {
  const Timeline timeline = made(make_times(), {{}, {{RowLevel::thread, "wor*"}}, 0});
  EXPECT_EQ(samples_of(timeline, 0), (std::vector<uint64_t>{0, 0, 90, 90, 90, 90}));
  EXPECT_EQ(timeline.shown[0].samples, 360u);
}

TEST(Timeline, RefusesLevelsOfCode) {
  const TestProfile test = make_times();
  for (const TimelineOptions& options : {TimelineOptions{{RowLevel::function}, {}, 0},
                                         TimelineOptions{{}, {{RowLevel::module, "libc*"}}, 0}}) {
    EXPECT_FALSE(make_timeline(test.profile, test.lookup(), options));
  }
  const TestProfile without = make_test_profile();
  const Result<Timeline> none = make_timeline(without.profile, without.lookup(), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("culprit record"), std::string::npos);
}

TEST(Timeline, TakesNoMemoryForStrangeFiles) {
  TestProfile test = make_times();
  add_time(test, 0, 0, 5, 0, 1, 1);  // no width
  test.profile.slice_counts.push_back({ContextId(0u), 1, UINT64_MAX, {EventId(0u), 1, 1, 0}});
  test.profile.slice_counts.push_back({ContextId(77u), 1, 1, {EventId(0u), 1, 1, 0}});
  test.profile.slice_counts.push_back({ContextId(0u), 1, 1, {EventId(77u), 1, 1, 0}});
  const Timeline timeline = made(test, {});
  EXPECT_LE(timeline.runs[0].count, 4096u);
  for (const Format format : {Format::text, Format::json, Format::csv}) {
    EXPECT_FALSE(print_timeline(test.profile, timeline, format, {}).empty());
  }
}

TEST(Timeline, Prints) {
  const TestProfile test = make_times();
  const auto print = [&](const TimelineOptions& options, Format format) {
    return print_timeline(test.profile, made(test, options), format, {});
  };
  expect_golden("timeline/golden/time.txt", print({}, Format::text));
  expect_golden("timeline/golden/time_thread.txt",
                print({{RowLevel::process, RowLevel::thread}, {}, 30}, Format::text));
  expect_golden("timeline/golden/time_thread.csv",
                print({{RowLevel::process, RowLevel::thread}, {}, 0}, Format::csv));
  expect_golden("timeline/golden/time_thread.json",
                print({{RowLevel::process, RowLevel::thread}, {}, 0}, Format::json));
}

}  // namespace
}  // namespace culprit
