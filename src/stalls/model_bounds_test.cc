#include <gtest/gtest.h>
#include <string>

#include "stalls/test_profile.h"

namespace culprit {
namespace {

using namespace std::string_literals;

// 0  48 03 07      add (%rdi),%rax
// 3  48 83 c7 08   add $8,%rdi
// 7  75 f7         jne 0
// 9  c3            ret
//
// 10,000 rounds of it in 100,000 cycles, 90,000 more than it takes to dispatch them. All lines were
// prefetched, so that no load missed; the model has 5,000 cycles in which their way was full.
TEST(ModelBounds, PrefetchedLinesTakeBandwidthWithoutAMiss) {
  MadeProfile made("x86_64", "\x48\x03\x07\x48\x83\xc7\x08\x75\xf7\xc3"s);
  made.add("cycles", 1000, {{0, {50, 50'000}}, {3, {50, 50'000}}});
  made.add_counted("instructions", {{0, 10'000}, {3, 10'000}, {7, 10'000}});
  made.add_counted("sim:base-cycles", {{0, 10'000}});
  made.add_counted("LLC-load-misses", {});
  made.add_counted("sim:bandwidth-cycles", {{0, 5000}});
  const StallSummary summary = made.summarize({});
  ASSERT_TRUE(summary.has_model);
  EXPECT_EQ(summary.tallied.explained + summary.tallied.unexplained, 90'000);
  // Some 500 lines in the model: at 100 cycles each.
  EXPECT_EQ(summary.tallied.high[static_cast<size_t>(StallCause::bandwidth)], 50'000);
  EXPECT_EQ(summary.tallied.high[static_cast<size_t>(StallCause::load_memory)], 0);
}

// 0  48 83 c7 08   add $8,%rdi
// 4  75 fa         jne 0
// 6  48 83 c6 08   add $8,%rsi
// a  75 f4         jne 0
// c  c3            ret
//
// An inner loop of ten rounds, whose end is mispredicted 1,000 times: 40,000 cycles at most, of
// which 10,000 are seen in it. The others are where control goes then, with 40,000 that nothing
// explains.
TEST(ModelBounds, AMispredictedEndOfALoopIsWaitedForBehindIt) {
  MadeProfile made("x86_64", "\x48\x83\xc7\x08\x75\xfa\x48\x83\xc6\x08\x75\xf4\xc3"s);
  made.add("cycles", 1000, {{0, {20, 20'000}}, {6, {70, 70'000}}});
  made.add_counted("instructions", {{0, 10'000}, {4, 10'000}, {6, 1000}, {10, 1000}, {12, 1}});
  made.add_counted("sim:base-cycles", {{0, 10'000}});
  made.add_counted("branch-misses", {{4, 1000}});
  const StallSummary summary = made.summarize({});
  ASSERT_TRUE(summary.has_model);
  EXPECT_EQ(summary.tallied.best.total(), 10'000);
  EXPECT_EQ(summary.tallied.high[kMisprediction], 40'000);
  EXPECT_EQ(summary.tallied.unexplained, 40'000);
  expect_to_close(summary);
}

}  // namespace
}  // namespace culprit
