// Traces that are simulated in windows, beside the values of the whole.

#include <cmath>

#include "simulate/test_trace.h"
#include "stats/estimate.h"

namespace culprit {
namespace {

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

// By hand: one line, and once 4,096 x 8 bytes of others, which most likely are in no window.
TEST_F(WindowsTrace, WhatMemoryHadIsCountedBetweenWindows) {
  play_in_windows(std::string(kLoop) + R"(
thread 0
run 0 loop x100000 601000+0
run 0 loop x4096 701000+8
run 0 loop x100000 601000+0
)",
                  32'000);
  const Estimate misses = total("LLC-load-misses");
  EXPECT_EQ(misses.value, 1 + 512);
  EXPECT_GT(misses.standard_error, 0);
  EXPECT_LT(misses.standard_error, 0.02 * 512);
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
  EXPECT_EQ(value("LLC-load-misses", 0x40010c), 1U);  // but for what memory had
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
