// A written trace through the counting code and the reader of its file, to a Profile, without QEMU.

#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <unistd.h>

#include "base/file.h"
#include "simulate/counting/machine_file.h"
#include "simulate/counting/region.h"
#include "simulate/counting/trace_player.h"
#include "simulate/counts_reader.h"
#include "simulate/simulated_profile.h"
#include "stats/estimate.h"

namespace culprit {
namespace {

using counting::CountingOptions;
using counting::TracePlayer;

/// A profile made of a trace, whose file is mapped at 0x400000.
class Trace : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made.has_value());
    folder_.emplace(*std::move(made));
    options_.folder = folder_->path();
  }

  /// L1D of 4 KiB in 8 ways, no L2, L3 of 64 KiB; nothing is fetched ahead.
  void simulate_small_machine(simulate::Locality locality = simulate::Locality::off) {
    simulate::MachineModel machine;
    machine.l1d = {.size_bytes = 4 << 10, .ways = 8};
    machine.l2.size_bytes = 0;
    machine.l3 = {.size_bytes = 64 << 10, .ways = 16};
    machine.prefetch.stream = machine.prefetch.stride = false;
    ASSERT_TRUE(
        counting::write_machine_file(counting::machine_file_path(folder_->path()), machine));
    options_.locality = locality;
    detail_.machine = true;
  }

  void play(const std::string& trace) {
    play([&](TracePlayer& player) { player.play(trace); });
  }
  void play(const std::function<void(TracePlayer&)>& play_all) {
    Result<std::unique_ptr<TracePlayer>> player = TracePlayer::make(options_);
    ASSERT_TRUE(player) << player.error().message;
    play_all(**player);
    const std::string path = folder_->path() + "/" + std::to_string(::getpid()) + ".0";
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    Result<CountsFile> counts = CountsFile::read(fd.get(), path);
    ASSERT_TRUE(counts) << counts.error().message;
    counting::Tenures tenures;
    if (std::filesystem::exists(path + ".tenures")) {
      tenures = *counting::read_tenures(path + ".tenures");
    }
    SimulatedProfile made(detail_, {});
    ASSERT_TRUE(made.add(*counts, tenures));
    profile_ = std::move(made.finish().profile);
  }

  /// The offset in the file, or the address where nothing is known of the file.
  static bool is_at(FileOffset offset, uint64_t address) {
    return offset.value == address || offset.value == address - 0x40'0000;
  }

  /// Of all threads.
  uint64_t value(std::string_view event, uint64_t address) const {
    uint64_t sum = 0;
    for (const Histogram& histogram : profile_.histograms) {
      for (const EventColumn& column : histogram.columns) {
        if (profile_.strings.text(profile_.events[column.event.value].name) != event) continue;
        for (size_t row = 0; row < column.value.size(); ++row) {
          if (is_at(histogram.offsets[row], address)) sum += column.value[row];
        }
      }
    }
    return sum;
  }

  using Pairs = std::map<std::pair<uint64_t, uint64_t>, uint64_t>;
  /// By addresses of their ends.
  Pairs branches() const {
    Pairs pairs;
    for (const BranchCount& row : profile_.branch_counts) {
      pairs[{address_of(row.from.offset), address_of(row.to.offset)}] += row.count;
    }
    return pairs;
  }
  Pairs runs() const {
    Pairs pairs;
    for (const FallThrough& row : profile_.fall_throughs) {
      pairs[{address_of(row.from), address_of(row.to)}] += row.count;
    }
    return pairs;
  }
  static uint64_t address_of(FileOffset offset) {
    return offset.value < 0x40'0000 ? offset.value + 0x40'0000 : offset.value;
  }

  /// Sums of an event by thread, in the order in which they began.
  std::vector<uint64_t> by_thread(std::string_view event) const {
    std::vector<uint64_t> sums(profile_.threads.size());
    for (const Histogram& histogram : profile_.histograms) {
      uint64_t& sum = sums[profile_.contexts[histogram.context.value].thread.value];
      for (const EventColumn& column : histogram.columns) {
        if (profile_.strings.text(profile_.events[column.event.value].name) != event) continue;
        for (const uint64_t value : column.value) sum += value;
      }
    }
    return sums;
  }

  std::optional<TemporaryFolder> folder_;
  CountingOptions options_;
  SimulatedDetail detail_;
  Profile profile_;
};

// mov (%rsi),%rax; add $8,%rsi; dec %rcx; jne loop
constexpr const char* kLoop = R"(
map 400000 1000 /trace/program
block loop 400100 488b06 4883c608 48ffc9 75f4
block after 40010c c3
)";
constexpr uint64_t kLoad = 0x400100;
constexpr uint64_t kBranch = 0x40010a;

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
  // On the same core, whose L1D has the lines that the thread before it brought in.
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

// A string instruction that repeats, behind a nop, and its rounds, for QEMU a block each.
constexpr const char* kStrings = R"(
map 400000 1000 /trace/program
block copy 400100 90 f3a4
block copy_round 400101 f3a4
block copy_words 400110 90 f348a5
block copy_words_round 400111 f348a5
block fill 400120 90 f3aa
block fill_round 400121 f3aa
thread 0
)";
constexpr uint64_t kCopy = 0x400101;
constexpr uint64_t kCopyWords = 0x400111;
constexpr uint64_t kFill = 0x400121;

/// Pages of memory for string instructions, with different bytes.
class Pages {
 public:
  explicit Pages(size_t count) : bytes_((count + 1) * 4096) {
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<uint8_t>(i * 167 + i / 251);
    begin_ = (reinterpret_cast<uint64_t>(bytes_.data()) + 4095) / 4096 * 4096;
  }
  [[nodiscard]] uint64_t at(uint64_t offset) const { return begin_ + offset; }
  [[nodiscard]] uint8_t byte(uint64_t offset) const {
    return *reinterpret_cast<const uint8_t*>(begin_ + offset);
  }
  [[nodiscard]] std::vector<uint8_t> bytes(uint64_t offset, uint64_t count) const {
    const auto* const first = reinterpret_cast<const uint8_t*>(begin_ + offset);
    return {first, first + count};
  }

 private:
  std::vector<uint8_t> bytes_;
  uint64_t begin_ = 0;
};

/// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi.
std::array<uint64_t, 8> registers_for(uint64_t count, uint64_t from, uint64_t to,
                                      uint64_t value = 0) {
  return {value, count, 0, 0, 0, 0, from, to};
}

// By hand: 10,000 bytes from a line's start are in 157 lines (10,000 / 64 = 156.25), of the source
// and of where they go; each is missed once. One instruction, whatever its rounds.
TEST_F(Trace, RoundsOfACopyCountAsIfEachHadRun) {
  simulate_small_machine();
  const Pages pages(6);
  const std::vector<uint8_t> expected = pages.bytes(0, 10'000);
  auto registers = registers_for(10'000, pages.at(0), pages.at(3 * 4096));
  uint64_t left_to_engine = 0;
  play([&](TracePlayer& player) {
    player.play(kStrings);
    left_to_engine = player.repeat(0, "copy", "copy_round", registers);
  });
  EXPECT_EQ(pages.bytes(3 * 4096, 10'000), expected);
  EXPECT_EQ(registers, registers_for(0, pages.at(10'000), pages.at(3 * 4096 + 10'000)));
  EXPECT_EQ(value("instructions", kCopy), 1U);
  EXPECT_EQ(value("L1-dcache-loads", kCopy), 10'000U);
  EXPECT_EQ(value("load-bytes", kCopy), 10'000U);
  EXPECT_EQ(value("L1-dcache-stores", kCopy), 10'000U);
  EXPECT_EQ(value("store-bytes", kCopy), 10'000U);
  EXPECT_EQ(value("L1-dcache-load-misses", kCopy), 157U);
  EXPECT_EQ(value("L1-dcache-store-misses", kCopy), 157U);
  // The first three show that the registers are what they seem; then one for each page.
  EXPECT_EQ(left_to_engine, 3U + 1 + 1 + 1);
}

// Words of which some lie in two lines and in two pages: from 4 bytes behind a page's start to 20
// behind another's. 1000 of them are 8000 bytes: 4 to 8003, lines 0 to 125; 20 to 8019, the same.
TEST_F(Trace, RoundsOfWordsThatCrossLinesAndPages) {
  simulate_small_machine();
  const Pages pages(6);
  const std::vector<uint8_t> expected = pages.bytes(4, 8000);
  auto registers = registers_for(1000, pages.at(4), pages.at(3 * 4096 + 20));
  play([&](TracePlayer& player) {
    player.play(kStrings);
    player.repeat(0, "copy_words", "copy_words_round", registers);
  });
  EXPECT_EQ(pages.bytes(3 * 4096 + 20, 8000), expected);
  EXPECT_EQ(registers, registers_for(0, pages.at(8004), pages.at(3 * 4096 + 8020)));
  EXPECT_EQ(value("instructions", kCopyWords), 1U);
  EXPECT_EQ(value("L1-dcache-loads", kCopyWords), 1000U);
  EXPECT_EQ(value("load-bytes", kCopyWords), 8000U);
  EXPECT_EQ(value("store-bytes", kCopyWords), 8000U);
  EXPECT_EQ(value("L1-dcache-load-misses", kCopyWords), 126U);
  EXPECT_EQ(value("L1-dcache-store-misses", kCopyWords), 126U);
}

TEST_F(Trace, RoundsOfAFill) {
  simulate_small_machine();
  const Pages pages(3);
  auto registers = registers_for(5000, 17, pages.at(32), 0x1234'56a7);
  play([&](TracePlayer& player) {
    player.play(kStrings);
    player.repeat(0, "fill", "fill_round", registers);
  });
  EXPECT_EQ(pages.bytes(32, 5000), std::vector<uint8_t>(5000, 0xa7));
  EXPECT_NE(pages.byte(31), 0xa7);
  EXPECT_EQ(registers, registers_for(0, 17, pages.at(5032), 0x1234'56a7));
  EXPECT_EQ(value("L1-dcache-loads", kFill), 0U);
  EXPECT_EQ(value("L1-dcache-stores", kFill), 5000U);
  EXPECT_EQ(value("L1-dcache-store-misses", kFill), 79U);  // 32 to 5031: lines 0 to 78
}

// Forward onto what is still to be read, a byte farther on: the first byte is everywhere. 100 bytes
// farther on: the first 100 again and again. Backward: what memmove does.
TEST_F(Trace, OverlappingCopiesMoveByteByByte) {
  const auto copy = [&](uint64_t from, uint64_t to, bool backward) {
    Pages pages(3);
    std::vector<uint8_t> expected = pages.bytes(0, 3 * 4096);
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t place = backward ? -i : i;
      expected[to + place] = expected[from + place];
    }
    auto registers = registers_for(3000, pages.at(from), pages.at(to));
    uint64_t left_to_engine = 0;
    std::filesystem::remove_all(folder_->path());
    std::filesystem::create_directory(folder_->path());
    simulate_small_machine();
    play([&](TracePlayer& player) {
      player.play(kStrings);
      left_to_engine = player.repeat(0, "copy", "copy_round", registers, backward);
    });
    EXPECT_EQ(pages.bytes(0, 3 * 4096), expected) << from << " to " << to;
    EXPECT_EQ(value("L1-dcache-stores", kCopy), 3000U);
    EXPECT_EQ(value("store-bytes", kCopy), 3000U);
    EXPECT_EQ(value("instructions", kCopy), 1U);
    return left_to_engine;
  };
  EXPECT_EQ(copy(1000, 1001, false), 3000U);
  EXPECT_EQ(copy(1000, 1063, false), 3000U);
  EXPECT_LT(copy(1000, 1064, false), 10U);
  EXPECT_LT(copy(1000, 1100, false), 10U);
  EXPECT_LT(copy(1100, 1000, false), 10U);
  EXPECT_EQ(copy(4000, 4500, true), 3000U);
}

// Instructions are skipped before rounds are done at once; then what is left is one instruction.
TEST_F(Trace, RoundsThatAreSkippedAreTheEnginesOwn) {
  options_.skip = 100;
  const Pages pages(4);
  auto registers = registers_for(1000, pages.at(0), pages.at(2 * 4096));
  uint64_t left_to_engine = 0;
  play([&](TracePlayer& player) {
    player.play(kStrings);
    left_to_engine = player.repeat(0, "copy", "copy_round", registers);
  });
  // A nop and 99 rounds; of 1000 rounds 901 are left.
  EXPECT_EQ(value("L1-dcache-loads", kCopy), 901U);
  EXPECT_GT(left_to_engine, 99U);
  EXPECT_LT(left_to_engine, 110U);
}

// What registers say is believed only if it is what the rounds before have done.
TEST_F(Trace, RegistersThatDoNotAgreeAreLeftAlone) {
  const Pages pages(4);
  auto registers = registers_for(1000, pages.at(0), pages.at(2 * 4096));
  uint64_t left_to_engine = 0;
  play([&](TracePlayer& player) {
    player.play(kStrings);
    left_to_engine =
        player.repeat(0, "copy", "copy_round", registers, false, /*shows_others=*/true);
  });
  EXPECT_EQ(left_to_engine, 1000U);
  EXPECT_EQ(value("L1-dcache-loads", kCopy), 1000U);
}

// 400 instructions are not counted, so the first 100 runs of the loop; 160 are.
TEST_F(Trace, WhatIsSkippedIsNotCounted) {
  options_.skip = 400;
  play(std::string(kLoop) + R"(
thread 0
run 0 loop x140 601000+8
)");
  EXPECT_EQ(value("instructions", kLoad), 40U);
}

// By hand: 8 bytes a run, 64 a line: one run in eight misses, from the first to the last.
constexpr uint64_t kRuns = 200'000;
const std::string kStream = std::string(kLoop) + "thread 0\nrun 0 loop x200000 601000+8\n";

class WindowsTrace : public Trace {
 protected:
  void play_in_windows(const std::string& trace, uint64_t first) {
    simulate_small_machine();
    options_.windows = {.per_million = 100'000, .seed = 5, .first = first};
    detail_.windows = true;
    play(trace);
  }
  /// The value of an event and its standard error, of all.
  Estimate total(std::string_view event) const {
    Estimate sum;
    double variance = 0;
    for (const Histogram& histogram : profile_.histograms) {
      for (const EventColumn& column : histogram.columns) {
        if (profile_.strings.text(profile_.events[column.event.value].name) != event) continue;
        for (const uint64_t value : column.value) sum.value += static_cast<double>(value);
        for (const double one : column.variance) variance += one;
      }
    }
    sum.standard_error = std::sqrt(variance);
    return sum;
  }
};

TEST_F(WindowsTrace, EstimatesMissesOfTheWholeRun) {
  play_in_windows(kStream, 32'000);
  EXPECT_EQ(value("instructions", kLoad), kRuns);
  EXPECT_EQ(value("L1-dcache-loads", kLoad), kRuns);
  EXPECT_EQ(value("branches-taken", kBranch), kRuns - 1);
  const Estimate misses = total("L1-dcache-load-misses");
  EXPECT_GT(misses.standard_error, 0);
  EXPECT_LT(misses.standard_error, 0.02 * kRuns / 8);
  const Interval interval = normal_interval(misses);
  EXPECT_LE(interval.low, kRuns / 8);
  EXPECT_GE(interval.high, kRuns / 8);
}

TEST_F(WindowsTrace, OfARunThatIsOverWithItsBeginningAllIsExact) {
  play_in_windows(kStream, 10'000'000);
  const Estimate misses = total("L1-dcache-load-misses");
  EXPECT_EQ(misses.value, kRuns / 8);
  EXPECT_EQ(misses.standard_error, 0);
  EXPECT_TRUE(profile_.ledger.notes().empty());
  for (const Event& event : profile_.events) EXPECT_NE(event.provenance, Provenance::sampled);
}

// One run of a block of one instruction, long after the beginning and behind the last window.
TEST_F(WindowsTrace, WhatNoWindowMetIsNotCovered) {
  play_in_windows(kStream + "run 0 after 7fff0000\n", 32'000);
  EXPECT_EQ(value("instructions", 0x40010c), 1U);
  EXPECT_EQ(value("L1-dcache-load-misses", 0x40010c), 0U);
  ASSERT_EQ(profile_.ledger.notes().size(), 1U);
  EXPECT_TRUE(profile_.ledger.notes()[0].starts_with("1 instructions ("));
}

// Each thread has what it ran itself; costs per execution are those of both.
TEST_F(WindowsTrace, ThreadsShareWindows) {
  play_in_windows(std::string(kLoop) + R"(
thread 0
thread 1
run 0 loop x50000 601000+8
run 1 loop x100000 6010000+8
run 0 loop x50000 1601000+8
)",
                  32'000);
  EXPECT_EQ(by_thread("instructions"), (std::vector<uint64_t>{400'000, 400'000}));
  const std::vector<uint64_t> misses = by_thread("L1-dcache-load-misses");
  ASSERT_EQ(misses.size(), 2U);
  EXPECT_NEAR(static_cast<double>(misses[0]), 12'500, 500);
  EXPECT_NEAR(static_cast<double>(misses[1]), 12'500, 500);
}

}  // namespace
}  // namespace culprit
