#include "scan/native_costs.h"

#include <cmath>
#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

/// Pairs whose start-up takes `start_ns`, and whose iterations take these times.
PairedCounts make_times(const std::vector<uint64_t>& iteration_ns, uint64_t start_ns = 1'000'000) {
  PairedCounts times{1000, 8000, {}};
  for (const uint64_t ns : iteration_ns) {
    times.pairs.push_back({start_ns + 1000 * ns, start_ns + 8000 * ns});
  }
  return times;
}

TEST(NativeCosts, StartUpDropsOut) {
  const auto time = estimate_cost(make_times({5, 5, 5, 5, 5, 5}, 123'456'789), 1);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->value, 5);
  EXPECT_DOUBLE_EQ(time->standard_error, 0);
}

TEST(NativeCosts, IsOfOneIterationWhereTheProgramMultiplies) {
  const auto time = estimate_cost(make_times({500, 500, 500, 500, 500, 500}), 100);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->value, 5);
}

TEST(NativeCosts, IsAMedianWithTheIntervalOfAMedian) {
  // Of six values the least and the greatest bound the median with 1 - 2/64 = 96.9 %.
  const auto time = estimate_cost(make_times({10, 12, 11, 13, 90, 10}), 1);
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->value, 11.5);
  EXPECT_NEAR(time->standard_error, (90 - 11.5) / 1.96, 1e-3);  // to the wider side
  EXPECT_NEAR(relative_half_width(*time), (90 - 11.5) / 11.5, 1e-9);
}

TEST(NativeCosts, FewerThanSixPairsTellNothing) {
  EXPECT_FALSE(estimate_cost(make_times({5, 5, 5, 5, 5}), 1));
}

TEST(NativeCosts, EventsAreFoundByTheirNames) {
  Cell cell;
  cell.details = {{"scan:status", "measured"},
                  {"scan:timing", write_pairs(make_times({5, 5, 5, 5, 5, 5}))},
                  {"scan:counted:cycles:u", write_pairs(make_times({20, 20, 20, 20, 20, 20}))},
                  {"scan:counted:short", write_pairs(make_times({1, 1}))}};
  EXPECT_EQ(list_native_names(cell),
            (std::vector<std::string>{"native:cycles:u", "native:short", "time_ns"}));
  EXPECT_DOUBLE_EQ(find_native_cost(cell, "native:cycles:u")->value, 20);
  EXPECT_DOUBLE_EQ(find_native_cost(cell, "time_ns")->value, 5);
  for (const char* unknown : {"native:short", "native:cycles", "cycles:u", "status", ""}) {
    EXPECT_FALSE(find_native_cost(cell, unknown)) << unknown;
  }
}

TEST(NativeCosts, WhatSeldomHappensNeedNotBeKnownBetterThanAnEvent) {
  EXPECT_TRUE(is_within({1000, 20 / 1.96 - 0.01}, 2));
  EXPECT_FALSE(is_within({1000, 21 / 1.96}, 2));
  EXPECT_TRUE(is_within({0.001, 0.01}, 2));  // 0.001 +- 0.0196
  EXPECT_FALSE(is_within({0.001, 0.011}, 2));
  EXPECT_TRUE(is_within({0, 0}, 2));
}

TEST(NativeCosts, NoWorkIsNotCertain) {
  EXPECT_TRUE(std::isinf(relative_half_width({0, 0})));
}

TEST(NativeCosts, IsKeptAsText) {
  const PairedCounts times = make_times({3, 4});
  const std::string text = write_pairs(times);
  EXPECT_EQ(text, "1000 8000\n1003000 1024000\n1004000 1032000");
  const auto read = parse_pairs(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(write_pairs(*read), text);
  EXPECT_TRUE(parse_pairs("1000 8000"));
  for (const char* bad : {"", "1000", "8000 1000", "1 2\n3", "1 2\n3 x", "1 2\n", "1 1", "-1 2"}) {
    EXPECT_FALSE(parse_pairs(bad)) << bad;
  }
}

}  // namespace
}  // namespace culprit::scan
