// Traces by hand: executions, branches, threads, misses and tenures that a profile then has.

#include <fmt/format.h>
#include <numeric>

#include "simulate/counting/region.h"
#include "simulate/test_trace.h"

namespace culprit {
namespace {

// By hand: the loop runs 100 times in one thread and 40 times in the other; each run loads 8 bytes;
// its branch is taken whenever the loop runs again.
TEST_F(Trace, CountsOfTwoThreadsAddUp) {
  play(std::string(kLoop) + R"(
thread 0
thread 1
run 0 loop x100 601000+8
run 1 loop x40 701000+8
run 0 after 7fff0000
run 1 after 7ffe0000
)");
  EXPECT_EQ(value("instructions", kLoad), 140U);
  EXPECT_EQ(value("L1-dcache-loads", kLoad), 140U);
  EXPECT_EQ(value("load-bytes", kLoad), 140U * 8);
  EXPECT_EQ(value("L1-dcache-stores", kLoad), 0U);
  EXPECT_EQ(value("branches", kBranch), 140U);
  EXPECT_EQ(value("branches-taken", kBranch), 99U + 39);
  EXPECT_EQ(by_thread("L1-dcache-loads"), (std::vector<uint64_t>{100 + 1, 40 + 1}));
}

// A number that a thread had is used again: three threads, two numbers.
TEST_F(Trace, AThreadThatBeginsWhenAnotherHasEndedHasItsOwnCounts) {
  simulate_small_machine(simulate::Locality::all);
  play(std::string(kLoop) + R"(
thread 0
thread 1
run 0 loop x10 601000+64
run 1 loop x20 701000+64
call 1 60
thread 1
run 1 loop x30 701000+64
run 0 loop x5 601000+64
end 0
)");
  EXPECT_EQ(by_thread("L1-dcache-loads"), (std::vector<uint64_t>{15, 20, 30}));
  // The thread runs on the same core, whose L1D has the lines that the thread before it brought in.
  EXPECT_EQ(by_thread("L1-dcache-load-misses"), (std::vector<uint64_t>{10, 20, 10}));
  std::map<std::tuple<uint32_t, uint32_t, EdgeKind>, uint64_t> edges;
  for (const Edge& edge : profile_.edges) {
    if (edge.level != CacheLevel::l1d) continue;
    edges[{profile_.contexts[edge.from_context.value].thread.value,
           profile_.contexts[edge.to_context.value].thread.value, edge.kind}] += edge.count;
  }
  const decltype(edges) expected = {{{0, 0, EdgeKind::reuse}, 5}, {{1, 2, EdgeKind::reuse}, 20}};
  EXPECT_EQ(edges, expected);
  std::map<uint32_t, uint64_t> lines;
  for (const Tenure& tenure : profile_.tenures) {
    if (tenure.level != CacheLevel::l1d) continue;
    lines[profile_.contexts[tenure.context.value].thread.value] += tenure.lines;
  }
  EXPECT_EQ(lines, (std::map<uint32_t, uint64_t>{{0, 10}, {1, 20}, {2, 10}}));
}

// 300 threads, one after the other, each of which runs the loop as often as its number says.
TEST_F(Trace, ThreadsBeyondTheMostAreOneRow) {
  std::string trace(kLoop);
  for (int i = 0; i < 300; ++i) {
    trace += "thread 3\nrun 3 loop x" + std::to_string(i + 1) + " 601000+8\n";
  }
  play(trace);
  const std::vector<uint64_t> loads = by_thread("L1-dcache-loads");
  ASSERT_EQ(loads.size(), 256U);
  for (size_t i = 0; i < 255; ++i) EXPECT_EQ(loads[i], i + 1);
  EXPECT_EQ(loads[255], (256U + 300) * 45 / 2);
  EXPECT_EQ(profile_.threads[255].tid, 0U);
  EXPECT_EQ(profile_.strings.text(profile_.threads[255].name), "other threads");
  EXPECT_EQ(profile_.ledger.amount(ledger::kFoldedThreads), 45U);
}

// By hand: the loop goes back 99 times, and once on to the return behind it.
TEST_F(Trace, StraightRunsFollowFromExecutions) {
  play(std::string(kLoop) + R"(
thread 0
run 0 loop x100 601000+8
run 0 after 7fff0000
)");
  EXPECT_EQ(branches(), (Pairs{{{kBranch, kLoad}, 99}}));
  EXPECT_EQ(runs(), (Pairs{{{kLoad, kBranch}, 99}, {{kLoad, 0x40010c}, 1}}));
}

// call f; again: call *%rax; jmp again. f, g and h only return. By hand: what each thread calls.
constexpr const char* kCalls = R"(
map 400000 1000 /trace/program
block main 400100 e8fb000000
block again 400105 ffd0
block more 400107 ebfc
block f 400200 c3
block g 400300 c3
block h 400310 c3
thread 0
thread 1
run 0 main 7fff0000
run 0 f 7fff0000
run 0 again 7fff0000
run 0 g 7fff0000
run 0 more
run 0 again 7fff0000
run 0 h 7fff0000
run 0 more
run 0 again 7fff0000
run 0 g 7fff0000
run 0 more
run 1 again 7ffe0000
run 1 g 7ffe0000
run 1 more
)";

TEST_F(Trace, CallsAndJumpsAreCountedByTarget) {
  play(kCalls);
  EXPECT_EQ(branches(), (Pairs{{{0x400100, 0x400200}, 1},
                               {{0x400105, 0x400300}, 3},
                               {{0x400105, 0x400310}, 1},
                               {{0x400107, 0x400105}, 4}}));
  EXPECT_EQ(profile_.ledger.amount(ledger::kOtherTargets), 0U);
}

// A call through a pointer to more places than a branch has rows for: each is counted, 1024 by
// name.
TEST_F(Trace, TargetsBeyondTheMostAreInTheLedger) {
  constexpr unsigned kPlaces = 1500;
  std::string trace = "map 400000 10000 /trace/program\nblock call 400000 ffd0\nthread 0\n";
  for (unsigned i = 0; i < kPlaces; ++i) {
    trace += fmt::format("block f{} {:x} 90\n", i, 0x40'1000 + 16 * i);
    trace += fmt::format("run 0 call 7fff0000\nrun 0 f{}\n", i);
  }
  play(trace);
  EXPECT_EQ(branches().size(), 1024U);
  EXPECT_EQ(profile_.ledger.amount(ledger::kOtherTargets), kPlaces - 1024);
}

// The second function is the region: f's return ends it.
TEST_F(Trace, ARegionEndsWithItsCall) {
  ASSERT_TRUE(counting::write_region_file(counting::region_file_path(folder_->path()),
                                          {"/trace/program", {0x310}}));
  play(kCalls);
  EXPECT_EQ(value("instructions", 0x400310), 1U);
  EXPECT_EQ(value("instructions", 0x400300), 0U);
  EXPECT_EQ(value("instructions", 0x400107), 0U);
}

// 100 words of 8 bytes from a line's start are in 13 lines of 64; a second pass finds them in L1D.
TEST_F(Trace, LinesMissOnce) {
  simulate_small_machine();
  play(std::string(kLoop) + R"(
thread 0
run 0 loop x100 601000+8
run 0 after 7fff0000
run 0 loop x100 601000+8
run 0 after 7fff0000
)");
  EXPECT_EQ(value("L1-dcache-loads", kLoad), 200U);
  EXPECT_EQ(value("L1-dcache-load-misses", kLoad), 13U);
  EXPECT_EQ(value("LLC-load-misses", kLoad), 13U);
}

// The second thread's core has caches of its own, and finds the lines in the L3 that both share.
TEST_F(Trace, EachThreadHasItsOwnFirstLevel) {
  simulate_small_machine();
  play(std::string(kLoop) + R"(
thread 0
thread 1
run 0 loop x64 601000+64
run 1 loop x64 601000+64
)");
  EXPECT_EQ(value("L1-dcache-load-misses", kLoad), 128U);
  EXPECT_EQ(value("LLC-load-misses", kLoad), 64U);
}

// By hand: 64 stores of 8 bytes, each to a line of its own, fill the L1D of 64 lines; loads of 4
// bytes, 16 a line, by another function push all of them out.
TEST_F(Trace, LocalityIsThatOfEachInstruction) {
  simulate_small_machine(simulate::Locality::l1);
  play(R"(
map 400000 1000 /trace/program
block store 400100 488906 75fb
block load 400200 8b06 75fc
thread 0
run 0 store x64 601000+64
run 0 load x1024 701000+4
end 0
)");
  const auto row = [&](uint64_t address, CacheLevel level) -> Tenure {
    Tenure found;
    for (const Tenure& tenure : profile_.tenures) {
      if (!is_at(tenure.location.offset, address) || tenure.level != level) continue;
      EXPECT_EQ(found.lines, 0U);
      found = tenure;
    }
    EXPECT_TRUE(found.object.is_all());  // not recorded
    return found;
  };
  const Tenure stored = row(0x400100, CacheLevel::l1d);
  EXPECT_EQ(stored.kind, AccessKind::integer_store);
  EXPECT_EQ(stored.lines, 64U);
  EXPECT_EQ(stored.touches, 64U);
  EXPECT_EQ(stored.bytes_touched, 64U * 8);
  EXPECT_EQ(stored.bytes_accessed, 64U * 8);
  EXPECT_EQ(stored.lines_at_end, 0U);
  const Tenure loaded = row(0x400200, CacheLevel::l1d);
  EXPECT_EQ(loaded.kind, AccessKind::integer_load);
  EXPECT_EQ(loaded.lines, 64U);
  EXPECT_EQ(loaded.touches, 1024U);
  EXPECT_EQ(loaded.bytes_touched, 64U * 64);
  EXPECT_EQ(loaded.lines_at_end, 64U);
  EXPECT_EQ(loaded.lines_prefetched + loaded.lines_never_used + loaded.lines_cut, 0U);
  const Tenure code = row(0x400200, CacheLevel::l1i);
  EXPECT_EQ(code.kind, AccessKind::fetch);
  EXPECT_EQ(code.touches, 1024U);

  std::map<std::tuple<uint64_t, uint64_t, EdgeKind>, uint64_t> edges;
  for (const Edge& edge : profile_.edges) {
    if (edge.level != CacheLevel::l1d) continue;
    edges[{edge.from.offset.value & 0xfff, edge.to.offset.value & 0xfff, edge.kind}] += edge.count;
  }
  const decltype(edges) expected = {{{0x100, 0x200, EdgeKind::eviction_capacity}, 64},
                                    {{0x200, 0x200, EdgeKind::reuse}, 1024 - 64}};
  EXPECT_EQ(edges, expected);
}

TEST_F(Trace, WhatIsSkippedIsNotCounted) {
  options_.skip = 400;
  play(std::string(kLoop) + R"(
thread 0
run 0 loop x140 601000+8
)");
  EXPECT_EQ(value("instructions", kLoad), 40U);
}

}  // namespace
}  // namespace culprit
