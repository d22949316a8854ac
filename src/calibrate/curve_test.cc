#include "calibrate/curve.h"

#include <cmath>
#include <gtest/gtest.h>

namespace culprit {
namespace {

constexpr uint64_t kWalkedMib = 1 << 20;

// From 50 to 450 cycles: half way by logarithms is 150, a quarter 50 x 9^(1/4) = 86.6, three
// quarters 259.8. All of it lies between 4 and 8 MiB: 100, 36.6 and 209.8 of 400 cycles of the way.
TEST(Curve, OfACacheOfAFixedSizeHasASteepStep) {
  const Curve curve = {
      {2 * kWalkedMib, 50}, {4 * kWalkedMib, 50}, {8 * kWalkedMib, 450}, {16 * kWalkedMib, 450}};
  const std::optional<LatencyStep> step = find_step(curve, 2 * kWalkedMib);
  ASSERT_TRUE(step);
  EXPECT_NEAR(step->bytes, 4 * kWalkedMib * std::pow(2, 100 / 400.0), 1);
  EXPECT_NEAR(step->factor, std::pow(2, (259.8 - 36.6 - 50) / 400.0), 0.01);
  EXPECT_LT(step->factor, kSteep);
}

// A cache that others take lines of: fewer hits from 2 MiB on, and a few still at 32.
TEST(Curve, OfASharedCacheHasNone) {
  const Curve curve = {{2 * kWalkedMib, 50},   {4 * kWalkedMib, 100},  {8 * kWalkedMib, 200},
                       {16 * kWalkedMib, 300}, {32 * kWalkedMib, 450}, {64 * kWalkedMib, 450}};
  const std::optional<LatencyStep> step = find_step(curve, 2 * kWalkedMib);
  ASSERT_TRUE(step);
  EXPECT_GT(step->factor, kSteep);
}

TEST(Curve, WithoutAStepHasNoSize) {
  EXPECT_FALSE(find_step({{2 * kWalkedMib, 50}, {4 * kWalkedMib, 50}}, 2 * kWalkedMib));
  EXPECT_FALSE(find_step({{2 * kWalkedMib, 50}}, 4 * kWalkedMib));
  EXPECT_FALSE(find_step({}, 0));
}

TEST(Curve, SaysHowItChangesWithTime) {
  const std::vector<CurvePoint> points =
      summarize_curves({{{kWalkedMib, 14}, {4 * kWalkedMib, 60}},
                        {{kWalkedMib, 15}, {4 * kWalkedMib, 400}},
                        {{kWalkedMib, 14}, {4 * kWalkedMib, 90}}});
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].bytes, 4 * kWalkedMib);
  EXPECT_EQ(points[1].cycles, 90);
  EXPECT_EQ(points[1].range, (Interval{60, 400}));
}

}  // namespace
}  // namespace culprit
