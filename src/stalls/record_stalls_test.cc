#include <gtest/gtest.h>
#include <string>

#include "stalls/test_profile.h"

namespace culprit {
namespace {

using namespace std::string_literals;

// 0  48 83 c0 01   add $1,%rax
// 4  48 ff c9      dec %rcx
// 7  75 f7         jne 0
// 9  c3            ret
//
// 50 samples of 1,000 cycles in the loop; records of 100 of its jumps, 99 rounds between them, 6
// cycles each if they say so.
MadeProfile make_loop(uint64_t cycles_each) {
  MadeProfile made("x86_64", "\x48\x83\xc0\x01\x48\xff\xc9\x75\xf7\xc3"s);
  made.add("cycles", 1000, {{0, {30, 30'000}}, {4, {20, 20'000}}});
  made.add_records(0, 7, 100, 100 * cycles_each);
  return made;
}

// By hand: 99 rounds took 594 cycles, so 50,000 cycles are 8,333 rounds of three instructions. The
// machine of no template dispatches ten a cycle.
TEST(RecordStalls, ExecutionsAreThoseByWhichRecordedCyclesAreMeasured) {
  const StallSummary summary = make_loop(6).summarize({});
  EXPECT_EQ(summary.source, ExecutionSource::branch_records);
  ASSERT_TRUE(summary.has_best);
  EXPECT_NEAR(summary.tallied.executions, 3 * 99 * 50'000.0 / 594, 1);
  EXPECT_NEAR(summary.tallied.cycles / summary.tallied.executions, 2, 1e-3);
  EXPECT_NEAR(summary.tallied.best.total(), summary.tallied.executions / 10, 1e-6);
  EXPECT_EQ(summary.cycles, 50'000);
}

TEST(RecordStalls, RecordsWithoutCyclesCountNothing) {
  const StallSummary summary = make_loop(0).summarize({});
  EXPECT_EQ(summary.source, ExecutionSource::branch_records);
  EXPECT_FALSE(summary.has_best);
  EXPECT_EQ(summary.tallied.untold, 50'000);
}

// One instruction in 25,000 sampled, a third at each.
TEST(RecordStalls, SampledInstructionsGoBeforeRecordsWithoutCycles) {
  MadeProfile made = make_loop(0);
  made.add("instructions", 1000, {{0, {9, 9'000}}, {4, {8, 8'000}}, {7, {8, 8'000}}});
  const StallSummary summary = made.summarize({});
  EXPECT_EQ(summary.source, ExecutionSource::sampled);
  ASSERT_TRUE(summary.has_best);
  EXPECT_NEAR(summary.tallied.executions, 25'000, 5'000);
}

}  // namespace
}  // namespace culprit
