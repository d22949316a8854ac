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

// 0  ff d0         call *%rax
// 2  75 fc         jne 0
// 4  c3            ret
// 5  90 c3         nop; ret       square
// 7  90 c3         nop; ret       circle
//
// 1,000 mispredicted calls: 40,000 cycles at most, of which none are seen around the call. 700 went
// to square, which had 28,000 of them and has 1,300 more that nothing explains; 300 to circle: of
// its 12,000 it has 9,700.
TEST(ModelBounds, AMispredictedCallIsWaitedForInWhatIsCalled) {
  MadeProfile made("x86_64", "\xff\xd0\x75\xfc\xc3\x90\xc3\x90\xc3"s);
  made.begin_function(5, "square");
  made.begin_function(7, "circle");
  made.add("cycles", 100, {{0, {50, 5000}}, {5, {300, 30'000}}, {7, {100, 10'000}}});
  made.add_counted("instructions",
                   {{0, 1000}, {2, 1000}, {4, 1}, {5, 700}, {6, 700}, {7, 300}, {8, 300}});
  made.add_counted("sim:base-cycles", {{0, 5000}, {5, 700}, {7, 300}});
  made.add_counted("branch-misses", {{0, 1000}});
  made.add_calls(0, 5, 700);
  made.add_calls(0, 7, 300);
  const StallSummary all = made.summarize({}, "");
  ASSERT_EQ(all.places.front().function, "square");
  const Stalls& square = all.places.front().stalls;
  EXPECT_EQ(square.high[kMisprediction], 28'000);
  EXPECT_EQ(square.unexplained, 1300);
  EXPECT_EQ(all.tallied.high[kMisprediction], 28'000 + 9700);
  EXPECT_EQ(all.tallied.unexplained, 1300);
  expect_to_close(all);
}

// The target of a call that always goes to one function is predicted.
TEST(ModelBounds, ACallOfOneFunctionIsNotWaitedForInIt) {
  MadeProfile made("x86_64", "\xff\xd0\x75\xfc\xc3\x90\xc3"s);
  made.begin_function(5, "square");
  made.add("cycles", 100, {{0, {50, 5000}}, {5, {300, 30'000}}});
  made.add_counted("instructions", {{0, 1000}, {2, 1000}, {4, 1}, {5, 1000}, {6, 1000}});
  made.add_counted("sim:base-cycles", {{0, 5000}, {5, 1000}});
  made.add_counted("branch-misses", {{0, 1000}});
  made.add_calls(0, 5, 1000);
  EXPECT_EQ(made.summarize({}, "square").tallied.high[kMisprediction], 0);
}

}  // namespace
}  // namespace culprit
