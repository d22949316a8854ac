#include "regions/regions_report.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "model/region_words.h"
#include "print/golden.h"
#include "regions/overheads.h"
#include "regions/region_objects.h"
#include "regions/test_regions.h"

namespace culprit {
namespace {

/// The paper's Figure 1: a critical section that four threads enter one after the other.
void add_figure_1(RegionsOf& of) {
  const double enter_ms[] = {0, 2000, 1000, 3010};
  const double body_ms[] = {1000, 1000, 1000, 1000};
  const double region_body_ms[] = {1000, 3000, 2000, 4010};
  const RegionId parallel = of.region("parallel", RegionId(), 18, 25);
  const RegionId critical = of.region("critical", parallel, 20, 23);
  for (uint32_t i = 0; i < 4; ++i) {
    const ContextId thread = of.thread(i);
    of.add(thread, parallel, region::kEnter, 10);
    of.add(thread, parallel, region::kBody, region_body_ms[i]);
    of.add(thread, parallel, region::kExitBarrier, 4010 - region_body_ms[i]);
    of.add(thread, critical, region::kEnter, enter_ms[i]);
    of.add(thread, critical, region::kBody, body_ms[i]);
  }
}

TEST(RegionsReport, FigureOneAsThePaperHasIt) {
  RegionsOf of;
  add_figure_1(of);
  const RegionsReport report = of.report();
  ASSERT_EQ(report.constructs.size(), 2u);
  const Construct& critical = report.constructs[1];
  EXPECT_EQ(critical.type, "CRITICAL");
  EXPECT_EQ(critical.place.first_line, 20u);
  ASSERT_EQ(critical.threads.size(), 4u);
  EXPECT_DOUBLE_EQ(critical.threads[3].times.enter_ns, 3.01e9);
  EXPECT_DOUBLE_EQ(critical.threads[3].times.whole_ns(), 4.01e9);
  EXPECT_DOUBLE_EQ(critical.sum.enter_ns, 6.01e9);
  EXPECT_DOUBLE_EQ(critical.sum.whole_ns(), 10.01e9);
  EXPECT_EQ(critical.sum.executions, 4u);
}

TEST(RegionsReport, WhatHadNotEndedIsInTheTimesAndSaid) {
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 18, 25);
  const RegionId critical = of.region("critical", parallel, 20, 23);
  const ContextId thread = of.thread(0);
  of.add(thread, parallel, region::kBody, 500, 3);
  of.add(thread, parallel, region::kUnfinished, 400, 1);
  of.add(thread, critical, region::kBody, 100, 7);
  const RegionsReport report = of.report();
  const RegionTimes& times = report.constructs[0].sum;
  EXPECT_DOUBLE_EQ(times.whole_ns(), 5e8);
  EXPECT_EQ(times.executions, 3u);
  EXPECT_EQ(times.unfinished, 1u);
  EXPECT_DOUBLE_EQ(times.unfinished_ns, 4e8);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("inside 1 execution of constructs"), std::string::npos);
  const std::string text = print_regions(of.profile(), report, {}, Format::text, TextStyle());
  EXPECT_NE(text.find("exitBarT  unfinished"), std::string::npos) << text;
  EXPECT_EQ(text.find("exitT  unfinished"), std::string::npos) << text;  // of the critical
}

TEST(RegionsReport, SharesAreOfTheRegionAndOfTheProgram) {
  RegionsOf of;
  add_figure_1(of);
  const RegionsReport report = of.report();
  ASSERT_EQ(report.regions.size(), 1u);
  const RegionOverheads& region = report.regions[0];
  EXPECT_EQ(region.threads, 4u);
  EXPECT_DOUBLE_EQ(region.wall_ns, 4.02e9);       // 10 + 4010 ms
  EXPECT_DOUBLE_EQ(region.whole_ns, 4 * 4.02e9);  // each thread is in it from end to end
  EXPECT_DOUBLE_EQ(region.overheads.synchronization_ns, 6.01e9);
  EXPECT_DOUBLE_EQ(region.overheads.imbalance_ns, 4 * 4.01e9 - 10.01e9);
  EXPECT_DOUBLE_EQ(region.overheads.management_ns, 0.04e9);
  EXPECT_DOUBLE_EQ(region.overheads.limited_ns, 0);
  EXPECT_DOUBLE_EQ(report.parallel_wall_ns, 4.02e9);
}

/// A region of two threads, one of which waits 60 ms for the other; the run takes 200 ms.
void add_run(RegionsOf& of, uint32_t run) {
  const RegionId parallel = of.region("parallel", RegionId(), 18, 25);
  uint32_t number = 0;
  for (const double waits_ms : {0.0, 60.0}) {
    const ContextId thread = of.thread_of(run, number++);
    of.add(thread, parallel, region::kBody, 100 - waits_ms);
    of.add(thread, parallel, region::kExitBarrier, waits_ms);
  }
  of.profile().runs[run].duration_ns = 200'000'000;
}

TEST(RegionsReport, RunsThatWereRepeatedFollowOneAnother) {
  RegionsOf of;
  add_run(of, 0);
  for (const uint32_t repetition : {1, 2}) {
    of.add_process(repetition);
    add_run(of, repetition);
  }
  const RegionsReport report = of.report();
  EXPECT_DOUBLE_EQ(report.program_wall_ns, 3 * 200e6);
  EXPECT_DOUBLE_EQ(report.parallel_wall_ns, 3 * 100e6);
  EXPECT_EQ(report.most_threads, 2u);
  ASSERT_EQ(report.regions.size(), 1u);
  EXPECT_EQ(report.regions[0].threads, 2u);
  EXPECT_DOUBLE_EQ(report.regions[0].wall_ns, 3 * 100e6);
  // Evened out, 70 and 70 ms instead of 100: each of the three runs saves 30 ms.
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_DOUBLE_EQ(report.findings[0].at_most_ns, 3 * 30e6);
}

TEST(RegionsReport, ASimulatedRunBesideTheMeasuredOneTakesNoTime) {
  RegionsOf of;
  add_run(of, 0);
  of.add_process(1);
  of.profile().runs[1].duration_ns = 9'000'000'000;
  of.profile().events.emplace_back();
  const RegionId parallel(0u);
  RegionValue counted;
  counted.context = of.thread_of(1, 0);
  counted.region = parallel;
  counted.part = of.text(region::kBody);
  counted.event = EventId(0u);
  counted.executions = 1;
  counted.value = 1000;
  of.profile().region_values.push_back(counted);
  of.count(counted.context, parallel, 4);
  EXPECT_DOUBLE_EQ(of.report().program_wall_ns, 200e6);
}

TEST(RegionsReport, ExclusiveTimesAddUpToThoseOfTheRoots) {
  RegionsOf of;
  add_figure_1(of);
  const RegionsReport report = of.report();
  double exclusive_ns = 0;
  double roots_ns = 0;
  for (const CallPath& path : report.call_paths) {
    exclusive_ns += path.exclusive_ns;
    if (!path.parent) roots_ns += path.sum.whole_ns();
  }
  EXPECT_DOUBLE_EQ(exclusive_ns, roots_ns);
}

std::map<std::string, double> exclusive_ms_by_type(const RegionsReport& report) {
  std::map<std::string, double> found;
  for (const CallPath& path : report.call_paths)
    found[report.constructs[path.construct].type] += path.exclusive_ns / 1e6;
  return found;
}

TEST(RegionsReport, CodeUnderALockIsTheConstructsAround) {
  // A region of 150 ms: 20 until it has the lock, then 120, of which 50 are a critical section.
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 10);
  const RegionId lock = of.region("lock", parallel, 11);
  const RegionId critical = of.region("critical", parallel, 12);
  const ContextId thread = of.thread(0);
  of.add(thread, parallel, region::kBody, 150);
  of.add(thread, lock, region::kEnter, 20, 0);
  of.add(thread, lock, region::kBody, 120);
  of.add(thread, critical, region::kBody, 50);
  std::map<std::string, double> exclusive_ms = exclusive_ms_by_type(of.report());
  EXPECT_DOUBLE_EQ(exclusive_ms["LOCK"], 20);
  EXPECT_DOUBLE_EQ(exclusive_ms["CRITICAL"], 50);
  EXPECT_DOUBLE_EQ(exclusive_ms["PARALLEL"], 80);
}

TEST(RegionsReport, ThreadsThatARegionStartsAreNotTakenOffWhatIsAround) {
  // One thread marks 100 ms, of which 60 are a region with two threads.
  RegionsOf of;
  const RegionId marked = of.region("user", RegionId(), 10, 0, "step");
  const RegionId parallel = of.region("parallel", marked, 11);
  const ContextId first = of.thread(0);
  of.add(first, marked, region::kBody, 100);
  of.add(first, parallel, region::kBody, 60);
  of.add(of.thread(1), parallel, region::kBody, 60);
  std::map<std::string, double> exclusive_ms = exclusive_ms_by_type(of.report());
  EXPECT_DOUBLE_EQ(exclusive_ms["USER"], 40);
  EXPECT_DOUBLE_EQ(exclusive_ms["PARALLEL"], 120);
}

TEST(RegionsReport, TasksOfAGccTaskloopAreTasks) {
  // A region of 100 ms waits 50 for a taskloop, and runs 40 of its tasks meanwhile.
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 10);
  const RegionId loop = of.region("taskloop", parallel, 11);
  const ContextId thread = of.thread(0);
  of.add(thread, parallel, region::kBody, 100);
  of.add(thread, parallel, region::kInnerTasks, 40);
  of.add(thread, loop, region::kBody, 40, 4);
  of.add(thread, loop, region::kExitBarrier, 10, 0);
  of.count(thread, loop, 4);
  std::map<std::string, double> exclusive_ms = exclusive_ms_by_type(of.report());
  EXPECT_DOUBLE_EQ(exclusive_ms["TASKLOOP"], 50);
  EXPECT_DOUBLE_EQ(exclusive_ms["PARALLEL"], 50);
}

TEST(RegionsReport, TasksAreOutOfWhatIsInATask) {
  // A region of 100 ms waits in a task of 30 ms, whose marked part of 25 runs another task of 20:
  // the outer one's body is without that. It took 2 to create, in the region, the inner one 1.
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 10);
  const RegionId wait = of.region("barrier", parallel, 15);
  const RegionId outer = of.region("task", parallel, 11);
  const RegionId marked = of.region("user", outer, 12, 0, "step");
  const RegionId inner = of.region("task", marked, 13);
  const ContextId thread = of.thread(0);
  of.add(thread, parallel, region::kBody, 100);
  of.add(thread, parallel, region::kInnerTasks, 50);
  of.add(thread, wait, region::kBody, 0);
  of.add(thread, wait, region::kWait, 6, 0);
  of.add(thread, outer, region::kEnter, 2, 0);
  of.add(thread, outer, region::kBody, 30);
  of.add(thread, marked, region::kBody, 45);
  of.add(thread, marked, region::kInnerTasks, 20);
  of.add(thread, inner, region::kEnter, 1, 0);
  of.add(thread, inner, region::kBody, 20);
  const RegionsReport report = of.report();
  ASSERT_EQ(report.call_paths.size(), 5u);
  double sum_ms = 0;
  for (const CallPath& path : report.call_paths) {
    const std::string& type = report.constructs[path.construct].type;
    const double ms = path.exclusive_ns / 1e6;
    double expected_ms = 20 + 1;               // the inner task
    if (type == "PARALLEL") expected_ms = 42;  // 100 - 50 - 6 - 2
    if (type == "BARRIER") expected_ms = 6;
    if (type == "USER") expected_ms = 24;                    // 45 - 20 - 1
    if (type == "TASK" && path.depth == 1) expected_ms = 7;  // 2 + 30 - (45 - 20)
    EXPECT_DOUBLE_EQ(ms, expected_ms) << type;
    sum_ms += ms;
  }
  EXPECT_DOUBLE_EQ(sum_ms, 100);
}

TEST(RegionsReport, FindsTheLineOfThreadsAtTheCriticalSection) {
  RegionsOf of;
  add_figure_1(of);
  const RegionsReport report = of.report();
  const auto found = std::find_if(
      report.findings.begin(), report.findings.end(),
      [](const Finding& finding) { return finding.property == "CriticalSectionContention"; });
  ASSERT_NE(found, report.findings.end());
  EXPECT_NEAR(found->severity, 6.01 / 16.08, 1e-9);
  EXPECT_DOUBLE_EQ(found->at_most_ns, 6.01e9 / 4);
}

TEST(RegionsReport, CountsLeaveRoomForTheConstructs) {
  RegionsOf of;
  RegionsReport report;
  for (const char* name : {"instructions", "sim:cycles", "L1-dcache-loads", "L1-dcache-load-misses",
                           "LLC-load-misses"}) {
    report.counters.push_back({.name = name});
  }
  Construct construct;
  construct.kind = Kind::parallel;
  construct.type = "PARALLEL LOOP";
  construct.place.file = "/src/prog.c";
  construct.place.first_line = 1234;
  construct.place.lines = LinesAre::construct;
  construct.counts.resize(report.counters.size());
  construct.counts.inside = {48'003'036, 25'238'613, 8'000'888, 246'189, 5};
  report.program_counts = report.region_counts = construct.counts;
  CallPath path;
  path.counts = construct.counts;
  report.constructs.push_back(construct);
  report.call_paths.push_back(path);
  const std::string text = print_regions(of.profile(), report, {}, Format::text, {});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  // In the call graph and in the flat profile.
  const std::string name = "R00001 prog.c (1234) PARALLEL LOOP";
  EXPECT_NE(text.find(name), text.rfind(name)) << text;
  EXPECT_NE(text.find("counted, too: L1-dcache-load-misses, LLC-load-misses"), std::string::npos)
      << text;
}

/// The classes of ompP, one construct each of 10 ms waiting on one of two threads.
TEST(RegionsOverheads, EachConstructHasItsClass) {
  struct Case {
    const char* kind;
    std::string_view part;
    uint64_t pieces;
    double Overheads::* expected;
  };
  const Case cases[] = {
      {"barrier", region::kWait, 0, &Overheads::synchronization_ns},
      {"taskwait", region::kWait, 0, &Overheads::synchronization_ns},
      {"critical", region::kEnter, 0, &Overheads::synchronization_ns},
      {"lock", region::kEnter, 0, &Overheads::synchronization_ns},
      {"lock", region::kExit, 0, &Overheads::management_ns},
      {"loop", region::kExitBarrier, 9, &Overheads::imbalance_ns},
      {"sections", region::kExitBarrier, 2, &Overheads::imbalance_ns},
      {"sections", region::kExitBarrier, 1, &Overheads::limited_ns},
      {"single", region::kExitBarrier, 1, &Overheads::limited_ns},
      {"task", region::kEnter, 5, &Overheads::management_ns},
  };
  for (const Case& one : cases) {
    RegionsOf of;
    const RegionId parallel = of.region("parallel", RegionId(), 10);
    const RegionId inner = of.region(one.kind, parallel, 11);
    const ContextId first = of.thread(0);
    const ContextId second = of.thread(1);
    for (const ContextId thread : {first, second}) {
      of.add(thread, parallel, region::kBody, 100);
      of.add(thread, inner, region::kBody, 0);
    }
    of.add(first, inner, one.part, 10, 0);
    if (one.pieces > 0) of.count(first, inner, one.pieces);
    const RegionsReport report = of.report();
    EXPECT_DOUBLE_EQ(report.program.*one.expected, 10e6) << one.kind;
    EXPECT_DOUBLE_EQ(report.program.sum_ns(), 10e6) << one.kind;
  }
}

TEST(RegionsReport, TasksRunWhenSomebodyHasTime) {
  // A thread waits 50 ms in taskwait and runs a task of 40 ms meanwhile: 10 ms of waiting are left,
  // and its parallel body of 100 ms holds the task.
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 10);
  const RegionId wait = of.region("taskwait", parallel, 12);
  const RegionId task = of.region("task", parallel, 11);
  const ContextId thread = of.thread(0);
  of.add(thread, parallel, region::kBody, 100);
  of.add(thread, parallel, region::kInnerTasks, 40);
  of.add(thread, wait, region::kBody, 0);
  of.add(thread, wait, region::kWait, 10, 0);
  of.add(thread, task, region::kBody, 40);
  const RegionsReport report = of.report();
  std::map<std::string, double> exclusive_ms;
  for (const CallPath& path : report.call_paths)
    exclusive_ms[report.constructs[path.construct].type] = path.exclusive_ns / 1e6;
  EXPECT_DOUBLE_EQ(exclusive_ms["PARALLEL"], 50);  // 100 - 40 of the task - 10 of waiting
  EXPECT_DOUBLE_EQ(exclusive_ms["TASKWAIT"], 10);
  EXPECT_DOUBLE_EQ(exclusive_ms["TASK"], 40);
}

TEST(RegionsReport, ARegionThatEndsWithASingleHasLimitedParallelism) {
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 10);
  const ContextId first = of.thread(0);
  const ContextId second = of.thread(1);
  of.add(first, parallel, region::kBody, 100);
  of.add(second, parallel, region::kBody, 0);
  of.add(second, parallel, region::kExitBarrier, 100);
  of.add(second, parallel, region::kBehindSingle, 90);
  const RegionsReport report = of.report();
  EXPECT_DOUBLE_EQ(report.program.limited_ns, 90e6);
  EXPECT_DOUBLE_EQ(report.program.imbalance_ns, 10e6);
}

TEST(RegionsReport, NestedRegionsCoverNoMoreThanTheOuterOne) {
  RegionsOf of;
  const RegionId outer = of.region("parallel", RegionId(), 10);
  const RegionId inner = of.region("parallel", outer, 11);
  const ContextId thread = of.thread(0);
  of.add(thread, outer, region::kBody, 100);
  of.add(thread, inner, region::kBody, 60);
  const RegionsReport report = of.report();
  EXPECT_DOUBLE_EQ(report.parallel_wall_ns, 100e6);
  EXPECT_EQ(report.regions.size(), 2u);
}

TEST(RegionsReport, ThreadsThatStartLateHaveNoCpu) {
  for (const auto& [executions, property] :
       {std::pair(uint64_t{5}, "ThreadsWithoutCpu"),
        std::pair(uint64_t{1000}, "InsufficientWorkInParallelRegion")}) {
    RegionsOf of;
    const RegionId parallel = of.region("parallel", RegionId(), 10);
    for (uint32_t i = 0; i < 2; ++i) {
      const ContextId thread = of.thread(i);
      of.add(thread, parallel, region::kEnter, 100, executions);  // 20 ms, or 100 us, each time
      of.add(thread, parallel, region::kBody, 100, executions);
    }
    const RegionsReport report = of.report();
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].property, property);
  }
}

TEST(RegionsReport, RowsOfOneNameAreOneDataObject) {
  // The program's variable `a`, and the range `a` that was asked for.
  RegionsOf of;
  Profile& profile = of.profile();
  DataObject object;
  profile.objects = {object};
  object.name = of.text("a");
  object.kind = ObjectKind::global;
  profile.objects.push_back(object);
  object.kind = ObjectKind::range;
  profile.objects.push_back(object);
  profile.object_ranges.push_back({ObjectId(2u), ContextId(), RunAddress(0x1000), 4096});
  Histogram histogram;
  histogram.objects = {ObjectId(1u)};
  profile.histograms.push_back(histogram);
  const FactsLookup nothing = [](ImageId) -> const ImageFacts* { return nullptr; };
  CodeIndex code(profile, nothing);
  const Result<ChosenObjects> chosen = find_region_objects(code, "a");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->rows, std::vector<bool>({false, true, true}));
  EXPECT_EQ(chosen->remarks,
            std::vector<std::string>({"counts are of accesses to a: 4,096 bytes from 0x1000"}));
}

TEST(RegionsReport, CountsOfRegionsHoldThoseInsideAndNoWaiting) {
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 10);
  const RegionId critical = of.region("critical", parallel, 12);
  const ContextId thread = of.thread(0);
  Event sampled;
  sampled.name = of.text("page-faults");
  sampled.provenance = Provenance::sampled;
  Event counted = sampled;
  counted.provenance = Provenance::counted;
  of.profile().events = {sampled, counted};
  of.add(thread, parallel, region::kBody, 100);
  of.add(thread, critical, region::kBody, 10);
  const auto count = [&](RegionId region, std::string_view part, uint64_t value) {
    of.profile().region_values.push_back({thread, region, of.text(part), EventId(1u), 1, value});
  };
  count(parallel, region::kCounted, 7);
  count(critical, region::kCounted, 5);
  count(critical, region::kCountedWaiting, 3);
  const RegionsReport report = of.report();
  ASSERT_EQ(report.counters.size(), 1u);  // not the sampled event of the same name
  EXPECT_TRUE(report.counters[0].is_of_regions);
  EXPECT_EQ(report.counters[0].provenance, Provenance::counted);
  EXPECT_DOUBLE_EQ(report.constructs[0].threads[0].counts.inside[0], 7 + 5);
  EXPECT_DOUBLE_EQ(report.constructs[0].threads[0].counts.waiting[0], 0);
  EXPECT_DOUBLE_EQ(report.constructs[1].threads[0].counts.inside[0], 5);
  EXPECT_DOUBLE_EQ(report.constructs[1].threads[0].counts.waiting[0], 3);
  EXPECT_DOUBLE_EQ(report.constructs[1].sum.body_ns, 10e6);  // times are times
}

TEST(RegionsReport, SaysThatThreadsShareCpus) {
  RegionsOf of;
  add_figure_1(of);
  EXPECT_TRUE(of.report().remarks.empty());
  of.profile().machine.cpus_online = 2;
  const RegionsReport report = of.report();
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("OMP_NUM_THREADS=2"), std::string::npos) << report.remarks[0];
  // Before the advice that it weakens.
  const std::string text = print_regions(of.profile(), report, {}, Format::text, {});
  EXPECT_LT(text.find("4 threads share 2 CPUs"), text.find("What to change")) << text;
}

// 5 seconds on four CPUs: a tenth of them is 2 s.
TEST(RegionsReport, SaysThatOthersHadTheCpus) {
  RegionsOf of;
  add_figure_1(of);
  of.profile().runs[0].others = {1'900'000'000, 0};
  EXPECT_TRUE(of.report().remarks.empty());
  of.profile().runs[0].others = {10'000'000'000, 0};
  const RegionsReport report = of.report();
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("others kept 2.0 of 4 CPUs busy"), std::string::npos);
}

// Nobody is told to make a loop dynamic that is: of its two chunks each thread has one.
TEST(RegionsReport, WhoWaitsAtTheEndOfAParallelLoopIsToldOfItsSchedule) {
  ImageFacts facts;
  const StringId file = facts.strings.intern("/src/main.c");
  facts.has_lines = true;
  facts.functions = {
      {FileOffset(0x100), FileOffset(0x200), facts.strings.intern("main._omp_fn.0"), {}, file, 10}};
  facts.lines = {{FileOffset(0x100), file, 10, 0}, {FileOffset(0x200), StringId(), 0, 0}};
  facts.sources = {{file, 10, {"#pragma omp parallel for schedule(dynamic, 9)"}}};
  RegionsOf of;
  of.profile().images.emplace_back();
  const RegionId parallel = of.region("parallel", RegionId(), 0);
  of.profile().regions[0].site = {ImageId(0u), FileOffset(0x100)};
  const RegionId loop = of.region("loop", parallel, 10, 0, "dynamic");
  for (uint32_t i = 0; i < 2; ++i) {
    const ContextId thread = of.thread(i);
    of.add(thread, parallel, region::kBody, 1000.0 * (1 + i));
    of.add(thread, parallel, region::kExitBarrier, 1000.0 * (1 - i));
    of.add(thread, loop, region::kBody, 1000.0 * (1 + i));
    of.count(thread, loop, 1);
  }
  const FactsLookup lookup = [&](ImageId) { return &facts; };
  CodeIndex code(of.profile(), lookup);
  const Result<RegionsReport> report = make_regions_report(of.profile(), code);
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].property, "ImbalanceInParallelRegion");
  EXPECT_EQ(report->findings[0].advice,
            "each thread takes 1.0 chunks a time: smaller chunks even out more");
}

TEST(RegionsReport, AProfileWithoutRegionsSaysHowToGetThem) {
  Profile profile;
  CodeIndex code(profile, FactsLookup());
  const Result<RegionsReport> made = make_regions_report(profile, code);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("--regions"), std::string::npos);
}

TEST(RegionsReport, DamagedRowsDoNoHarm) {
  RegionsOf of;
  const RegionId region = of.region("parallel", RegionId(77u), 10);
  of.add(ContextId(99u), region, region::kBody, 1);
  of.add(of.thread(0), RegionId(50u), region::kBody, 1);
  of.add(of.thread(1), region, region::kBody, 1);
  EXPECT_EQ(of.report().constructs.size(), 1u);
}

TEST(RegionsReport, PrintsInEveryFormat) {
  RegionsOf of;
  add_figure_1(of);
  const RegionsReport report = of.report();
  const TextStyle style{80, false, "fig1.culprit"};
  const auto print = [&](Format format) {
    return print_regions(of.profile(), report, {}, format, style);
  };
  expect_golden("regions/golden/figure_1.txt", print(Format::text));
  expect_golden("regions/golden/figure_1.json", print(Format::json));
  expect_golden("regions/golden/figure_1.csv", print(Format::csv));
}

}  // namespace
}  // namespace culprit
