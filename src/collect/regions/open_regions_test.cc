#include "collect/regions/open_regions.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "collect/regions/region_profile.h"
#include "model/region_words.h"

namespace culprit {
namespace {

constexpr uint64_t kEnd = 1000;
constexpr uint32_t kParallel = 1, kCritical = 2, kTask = 3, kWait = 4;

RegionOpen body(uint32_t path, uint16_t kind, uint64_t begin, uint64_t tasks = 0) {
  return {path, kind, false, CULPRIT_PART_BODY, begin, tasks};
}

RegionOpen wait(uint32_t path, uint16_t part, uint64_t begin, uint64_t tasks = 0) {
  return {path, CULPRIT_KIND_NONE, true, part, begin, tasks};
}

/// The thread's counters after its process ended at kEnd.
RegionThread end(const RegionThread& thread, uint32_t flags = 0, uint64_t start_ticks = 0) {
  RegionProcess process;
  process.flags = flags;
  process.start_ticks = start_ticks;
  process.threads.push_back(thread);
  add_open_regions(process, kEnd);
  return process.threads[0];
}

RegionCounter counter(const RegionThread& thread, uint32_t path) {
  const auto at = std::ranges::find(thread.counters, path, &RegionCounter::path);
  return at == thread.counters.end() ? RegionCounter() : *at;
}

TEST(OpenRegions, LastUntilTheProcessEnds) {
  RegionThread thread;
  thread.counters.push_back({.path = kParallel, .executions = 2, .ticks = {0, 500, 0, 0, 0}});
  thread.open = {body(kParallel, CULPRIT_KIND_PARALLEL, 600),
                 body(kCritical, CULPRIT_KIND_CRITICAL, 900)};
  const RegionThread ended = end(thread);
  const RegionCounter parallel = counter(ended, kParallel);
  EXPECT_EQ(parallel.executions, 3u);
  EXPECT_EQ(parallel.ticks[CULPRIT_PART_BODY], 900u);  // 500 before, 400 of the open one
  EXPECT_EQ(parallel.unfinished, 1u);
  EXPECT_EQ(parallel.unfinished_ticks, 400u);
  EXPECT_EQ(counter(ended, kCritical).ticks[CULPRIT_PART_BODY], 100u);
  EXPECT_EQ(ended.still_open, 0u);
}

TEST(OpenRegions, AreWaitsTooForLocksAndAtBarriers) {
  RegionThread thread;
  thread.asked = wait(kCritical, CULPRIT_PART_ENTER, 300);
  thread.barrier = wait(kParallel, CULPRIT_PART_EXIT_BARRIER, 800);
  thread.held = {body(5, CULPRIT_KIND_LOCK, 750)};
  const RegionThread ended = end(thread);
  EXPECT_EQ(counter(ended, kCritical).ticks[CULPRIT_PART_ENTER], 700u);
  EXPECT_EQ(counter(ended, kCritical).unfinished, 1u);
  // The body has ended before, and was counted.
  EXPECT_EQ(counter(ended, kParallel).ticks[CULPRIT_PART_EXIT_BARRIER], 200u);
  EXPECT_EQ(counter(ended, kParallel).executions, 0u);
  EXPECT_EQ(counter(ended, 5).ticks[CULPRIT_PART_BODY], 250u);
}

TEST(OpenRegions, TasksAreNotTheWaitAroundThem) {
  RegionThread thread;
  // At 100 into the region, at 200 to its taskwait; a task of 50 there, and one since 600.
  thread.open = {body(kParallel, CULPRIT_KIND_PARALLEL, 100),
                 wait(kWait, CULPRIT_PART_WAIT, 200, 50), body(kTask, CULPRIT_KIND_TASK, 600)};
  const RegionThread ended = end(thread);
  EXPECT_EQ(counter(ended, kTask).ticks[CULPRIT_PART_BODY], 400u);
  EXPECT_EQ(counter(ended, kWait).ticks[CULPRIT_PART_WAIT], 350u);  // 800 - 50 - 400
  EXPECT_EQ(counter(ended, kParallel).ticks[CULPRIT_PART_BODY], 900u);
  EXPECT_EQ(counter(ended, kParallel).inner_tasks, 450u);
}

TEST(OpenRegions, TasksAtTheEndOfARegionAreInItsBody) {
  RegionThread thread;
  // At the region's end since 200; a task of 50 there, and one since 600, which waits for another.
  thread.barrier = wait(kParallel, CULPRIT_PART_EXIT_BARRIER, 200, 50);
  thread.open = {body(kTask, CULPRIT_KIND_TASK, 600), wait(kWait, CULPRIT_PART_WAIT, 700),
                 body(kTask, CULPRIT_KIND_TASK, 800)};
  const RegionThread ended = end(thread);
  EXPECT_EQ(counter(ended, kTask).ticks[CULPRIT_PART_BODY], 400u);
  const RegionCounter parallel = counter(ended, kParallel);
  EXPECT_EQ(parallel.ticks[CULPRIT_PART_EXIT_BARRIER], 350u);  // 800 - 50 - 400
  EXPECT_EQ(parallel.ticks[CULPRIT_PART_BODY], 450u);
  EXPECT_EQ(parallel.inner_tasks, 450u);
}

TEST(OpenRegions, OfThemselvesTheOuterOneHasTheTime) {
  RegionThread thread;
  thread.open = {body(kCritical, CULPRIT_KIND_USER, 100), body(kCritical, CULPRIT_KIND_USER, 400)};
  const RegionCounter both = counter(end(thread), kCritical);
  EXPECT_EQ(both.ticks[CULPRIT_PART_BODY], 900u);
  EXPECT_EQ(both.unfinished, 2u);
}

TEST(OpenRegions, OfTheParentAreNotTheChilds) {
  RegionThread thread;
  thread.open = {body(kParallel, CULPRIT_KIND_PARALLEL, 500),
                 body(kCritical, CULPRIT_KIND_CRITICAL, 700)};
  const RegionThread ended = end(thread, CULPRIT_IS_FORKED, 500);
  EXPECT_EQ(counter(ended, kParallel).executions, 0u);
  EXPECT_EQ(counter(ended, kCritical).ticks[CULPRIT_PART_BODY], 300u);
  EXPECT_EQ(ended.still_open, 1u);
}

TEST(OpenRegions, OfLaterThanTheEndTakeNoTime) {
  RegionThread thread;
  thread.open = {body(kParallel, CULPRIT_KIND_PARALLEL, kEnd + 1)};
  EXPECT_EQ(counter(end(thread), kParallel).ticks[CULPRIT_PART_BODY], 0u);
}

TEST(OpenRegions, BecomeUnfinishedTimesOfTheProfile) {
  RegionFiles files;
  files.processes.resize(1);
  files.processes[0].paths = {{}, {0, CULPRIT_KIND_PARALLEL, 0, "", {}, {}}};
  RegionThread thread;
  thread.open = {body(kParallel, CULPRIT_KIND_PARALLEL, 600)};
  files.processes[0].threads.push_back(end(thread));
  Profile profile;
  profile.runs.emplace_back();
  RegionRows rows;
  add_regions(files, 1, {}, rows, profile);
  ASSERT_EQ(profile.region_values.size(), 2u);
  EXPECT_EQ(profile.strings.text(profile.region_values[0].part), region::kBody);
  EXPECT_EQ(profile.strings.text(profile.region_values[1].part), region::kUnfinished);
  EXPECT_EQ(profile.region_values[1].executions, 1u);
  EXPECT_EQ(profile.region_values[1].value, 400u);
  ASSERT_EQ(profile.ledger.notes().size(), 1u);
  EXPECT_NE(profile.ledger.notes()[0].find("ended inside constructs"), std::string::npos);
}

}  // namespace
}  // namespace culprit
