// Gains of a place with 120 M cycles of load latency and 80 M of chains; expected numbers by hand.

#include "why/gain.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

CostTree make_place() {
  const auto branch = [](CostBranch which, double cycles) {
    CostNode node;
    node.kind = NodeKind::branch;
    node.branch = which;
    node.cycles = Estimate{cycles, 0};
    return node;
  };
  CostTree tree;
  CostNode& level = tree.unhalted.parts.emplace_back();
  level.kind = NodeKind::level;
  level.parts = {branch(CostBranch::load_latency, 120e6),
                 branch(CostBranch::instruction_serialization, 80e6)};
  return tree;
}

// The model takes 110 M of its 200 M cycles without the loads.
constexpr double kReplayGain = 0.45;

TEST(Gains, OfAModelAloneAreThoseOfItsSecondRun) {
  const GainForecast gain = forecast_gain(make_place(), CostBranch::load_latency, kReplayGain,
                                          {.modelled = 200e6, .measured = {}, .whole = 400e6});
  EXPECT_NEAR(gain.expected, 90.0 / 400, 1e-9);
  EXPECT_LT(gain.low, gain.expected);
  EXPECT_GT(gain.high, gain.expected);
  EXPECT_LE(gain.high, 0.5);  // no more than the place has
}

// Prior variances 120^2 and (0.3 x 80)^2: 0.9615 of the missing 120 M are the loads'.
TEST(Gains, MissingTimeGoesToWhatIsLeastSure) {
  const GainForecast gain =
      forecast_gain(make_place(), CostBranch::load_latency, kReplayGain,
                    {.modelled = 200e6, .measured = Estimate{320e6, 0}, .whole = 320e6});
  EXPECT_NEAR(gain.expected, (90 + 120 * 14400.0 / 14976) / 320, 1e-6);
  const GainForecast chains =
      forecast_gain(make_place(), CostBranch::instruction_serialization, 0,
                    {.modelled = 200e6, .measured = Estimate{320e6, 0}, .whole = 320e6});
  EXPECT_NEAR(chains.expected, 120 * 576.0 / 14976 / 320, 1e-6);
}

// Others that are as unsure as the loads (120^2) have as much of what is missing.
TEST(Gains, MissingTimeMayBeOfOthersWhoseSamplesMixWithThePlaces) {
  const GainForecast gain = forecast_gain(make_place(), CostBranch::load_latency, kReplayGain,
                                          {.modelled = 200e6,
                                           .measured = Estimate{320e6, 0},
                                           .whole = 320e6,
                                           .others_variance = 14400e12});
  EXPECT_NEAR(gain.expected, (90 + 120 * 14400.0 / (14976 + 14400)) / 320, 1e-6);
}

TEST(Gains, AreNeverMoreThanThePlaceHas) {
  const GainForecast gain =
      forecast_gain(make_place(), CostBranch::load_latency, kReplayGain,
                    {.modelled = 200e6, .measured = Estimate{40e6, 0}, .whole = 100e6});
  EXPECT_EQ(gain.expected, 0);
  EXPECT_LE(gain.high, 0.4);
}

TEST(Skid, InlinedCodeHasWhatWholeFunctionsLeaveOfItsModel) {
  EXPECT_DOUBLE_EQ(allow_for_skid(10, 100, 0), 100);
  EXPECT_DOUBLE_EQ(allow_for_skid(10, 100, 30), 70);
  EXPECT_DOUBLE_EQ(allow_for_skid(10, 100, 500), 10);  // the model may be all wrong
  EXPECT_DOUBLE_EQ(allow_for_skid(150, 100, 0), 150);
}

}  // namespace
}  // namespace culprit
