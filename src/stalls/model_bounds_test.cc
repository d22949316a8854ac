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
// prefetched, so that no load missed; the model has 50,000 cycles in which their way was full.
TEST(ModelBounds, PrefetchedLinesTakeBandwidthWithoutAMiss) {
  MadeProfile made("x86_64", "\x48\x03\x07\x48\x83\xc7\x08\x75\xf7\xc3"s);
  made.add("cycles", 1000, {{0, {50, 50'000}}, {3, {50, 50'000}}});
  made.add_counted("instructions", {{0, 10'000}, {3, 10'000}, {7, 10'000}});
  made.add_counted("sim:base-cycles", {{0, 10'000}});
  made.add_counted("LLC-load-misses", {});
  made.add_counted("sim:bandwidth-cycles", {{0, 50'000}});
  const StallSummary summary = made.summarize({});
  ASSERT_TRUE(summary.has_model);
  EXPECT_EQ(summary.tallied.explained + summary.tallied.unexplained, 90'000);
  // The model may have half as much again.
  EXPECT_EQ(summary.tallied.high[static_cast<size_t>(StallCause::bandwidth)], 75'000);
  EXPECT_EQ(summary.tallied.high[static_cast<size_t>(StallCause::load_memory)], 0);
}

}  // namespace
}  // namespace culprit
