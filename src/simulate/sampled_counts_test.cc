#include "simulate/sampled_counts.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// By hand: mean 40, squares 900 + 100 + 100 + 900 = 2000, s^2 = 2000/3; four classes of mean 40:
// 4 x (2000/3) / 160 = 16.7, times (t(3) / 1.96)^2 with t(3) = 3.182.
TEST(DesignEffect, IsTheVarianceBetweenClassesAgainstPoisson) {
  const uint32_t some[] = {10, 30, 50, 70};
  EXPECT_NEAR(estimate_design_effect(some), 4 * (2000.0 / 3) / 160 * 3.182 * 3.182 / 3.8415, 0.05);
  // All in one of four: mean 25, squares 3 x 625 + 5625 = 7500, s^2 = 2500: 4 x 2500 / 100.
  const uint32_t uneven[] = {100, 0, 0, 0};
  EXPECT_NEAR(estimate_design_effect(uneven), 100 * 3.182 * 3.182 / 3.8415, 0.5);
}

TEST(DesignEffect, IsNeverLessThanThatOfIndependentEvents) {
  const uint32_t equal[] = {7, 7, 7, 7};
  EXPECT_EQ(estimate_design_effect(equal), 1);
  const uint32_t nothing[] = {0, 0, 0, 0};
  EXPECT_EQ(estimate_design_effect(nothing), 1);
}

ProcessCounts counts_of(std::vector<counts_file::SampledMisses> misses) {
  ProcessCounts counts;
  counts.sample_classes = 4;
  counts.misses = std::move(misses);
  return counts;
}

// Two sites whose misses are in the same class: the variance of their sum is twice the sum of
// theirs (a sum of equals), so each counts for twice.
TEST(DesignEffects, WhatSitesHaveInCommonRaisesThemAll) {
  const uint32_t uneven[] = {100, 0, 0, 0};
  const double alone = estimate_design_effect(uneven);
  const std::vector<double> effects =
      estimate_design_effects(counts_of({{{100, 0, 0, 0}}, {{100, 0, 0, 0}}}));
  EXPECT_NEAR(effects[0], 2 * alone, 1e-9);
  EXPECT_NEAR(effects[1], 2 * alone, 1e-9);
}

TEST(DesignEffects, WhatEvensOutInTheSumStays) {
  const uint32_t uneven[] = {100, 0, 0, 0};
  const std::vector<double> effects = estimate_design_effects(
      counts_of({{{100, 0, 0, 0}}, {{0, 100, 0, 0}}, {{0, 0, 100, 0}}, {{0, 0, 0, 100}}}));
  EXPECT_NEAR(effects[3], estimate_design_effect(uneven), 1e-9);
}

}  // namespace
}  // namespace culprit
