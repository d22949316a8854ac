#include "cli/simulation_progress.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(RunForecast, GoesByTheCyclesOfTheNativeRun) {
  const auto forecast =
      forecast_run({}, {.elapsed_s = 30, .instructions = 5, .cycles = 1e9}, {4e9, 0});
  ASSERT_TRUE(forecast);
  EXPECT_DOUBLE_EQ(forecast->done, 0.25);
  EXPECT_DOUBLE_EQ(forecast->left_s, 90);
}

// The first 10 s were slow: 0.2 G of 4 G cycles; then 0.8 G in 20 s. What is left takes 75 s.
TEST(RunForecast, GoesByWhatRanLately) {
  const auto forecast = forecast_run({.elapsed_s = 10, .instructions = 1, .cycles = 0.2e9},
                                     {.elapsed_s = 30, .instructions = 5, .cycles = 1e9}, {4e9, 0});
  ASSERT_TRUE(forecast);
  EXPECT_DOUBLE_EQ(forecast->done, 0.25);
  EXPECT_DOUBLE_EQ(forecast->left_s, 75);
}

TEST(RunForecast, SaysNothingWhereNothingIsKnown) {
  EXPECT_FALSE(forecast_run({}, {.elapsed_s = 30, .instructions = 5, .cycles = 1e9}, {0, 9}));
  EXPECT_FALSE(forecast_run({}, {.elapsed_s = 30, .instructions = 5, .cycles = 0}, {4e9, 9}));
  EXPECT_FALSE(forecast_run({}, {.elapsed_s = 1, .instructions = 5, .cycles = 1e7}, {4e9, 9}));
}

// By cycles 90 s are left: 120 s in all, more than twice what most programs take.
TEST(RunForecast, GoesByWhatMostProgramsTakeWhereTheModelLacksTheCycles) {
  const SimulateProgress now{.elapsed_s = 30, .instructions = 5, .cycles = 1e9};
  const auto forecast = forecast_run({}, now, {4e9, 50});
  ASSERT_TRUE(forecast);
  EXPECT_DOUBLE_EQ(forecast->done, 0.6);
  EXPECT_DOUBLE_EQ(forecast->left_s, 20);
  EXPECT_DOUBLE_EQ(forecast_run({}, now, {4e9, 60})->left_s, 90);
  EXPECT_FALSE(forecast_run({}, now, {4e9, 33}));
}

TEST(RunForecast, IsNotDoneBeforeTheProgramIs) {
  const auto forecast =
      forecast_run({}, {.elapsed_s = 99, .instructions = 5, .cycles = 9e9}, {4e9, 0});
  ASSERT_TRUE(forecast);
  EXPECT_DOUBLE_EQ(forecast->done, 0.99);
  EXPECT_NEAR(forecast->left_s, 0.99, 1e-9);
}

}  // namespace
}  // namespace culprit
