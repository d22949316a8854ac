#include "scan/timing.h"

#include <cmath>
#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

/// Pairs whose start-up takes `start_ns`, and whose iterations take these times.
PairedTimes make_times(const std::vector<uint64_t>& iteration_ns, uint64_t start_ns = 1'000'000) {
  PairedTimes times{1000, 8000, {}};
  for (const uint64_t ns : iteration_ns) {
    times.pairs.push_back({start_ns + 1000 * ns, start_ns + 8000 * ns});
  }
  return times;
}

TEST(Timing, StartUpDropsOut) {
  const auto time = estimate_time(make_times({5, 5, 5, 5, 5, 5}, 123'456'789), 1);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->value, 5);
  EXPECT_DOUBLE_EQ(time->standard_error, 0);
}

TEST(Timing, IsOfOneIterationWhereTheProgramMultiplies) {
  const auto time = estimate_time(make_times({500, 500, 500, 500, 500, 500}), 100);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->value, 5);
}

TEST(Timing, IsAMedianWithTheIntervalOfAMedian) {
  // Of six values the least and the greatest bound the median with 1 - 2/64 = 96.9 %.
  const auto time = estimate_time(make_times({10, 12, 11, 13, 90, 10}), 1);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->value, 11.5);
  EXPECT_NEAR(time->standard_error, (90 - 11.5) / 1.96, 1e-3);  // to the wider side
  EXPECT_NEAR(relative_half_width(*time), (90 - 11.5) / 11.5, 1e-9);
}

TEST(Timing, FewerThanSixPairsTellNothing) {
  EXPECT_FALSE(estimate_time(make_times({5, 5, 5, 5, 5}), 1));
}

TEST(Timing, NoWorkIsNotCertain) {
  EXPECT_TRUE(std::isinf(relative_half_width({0, 0})));
}

TEST(Timing, IsKeptAsText) {
  const PairedTimes times = make_times({3, 4});
  const std::string text = write_timing(times);
  EXPECT_EQ(text, "1000 8000\n1003000 1024000\n1004000 1032000");
  const auto read = parse_timing(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(write_timing(*read), text);
  EXPECT_TRUE(parse_timing("1000 8000"));
  for (const char* bad : {"", "1000", "8000 1000", "1 2\n3", "1 2\n3 x", "1 2\n", "1 1", "-1 2"}) {
    EXPECT_FALSE(parse_timing(bad)) << bad;
  }
}

}  // namespace
}  // namespace culprit::scan
