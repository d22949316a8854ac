#include "stats/steps.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace culprit {
namespace {

std::vector<double> noise(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> series(size);
  for (double& value : series) value = normal(random);
  return series;
}

std::vector<size_t> steps_of(const std::vector<double>& series) {
  return find_steps(series, neighbour_scatter(series).value());
}

TEST(NeighbourScatter, IsTheMedianDistanceByHand) {
  // Distances 1, 2, 1, 3, 1, 2, 100: the median is 2.
  const double series[] = {0, 1, 3, 2, 5, 4, 6, 106};
  EXPECT_NEAR(neighbour_scatter(series).value(), 2 * 1.4826 / std::sqrt(2.0), 1e-5);
  EXPECT_FALSE(neighbour_scatter(std::span(series).first(7)));
}

TEST(NeighbourScatter, IsThatOfNormalValues) {
  EXPECT_NEAR(neighbour_scatter(noise(20'000, 1)).value(), 1, 0.03);
}

TEST(Steps, AreNoneInNoise) {
  for (const size_t size : {8U, 12U, 30U}) {
    size_t found = 0;
    for (uint32_t seed = 0; seed < 2000; ++seed) found += !steps_of(noise(size, seed)).empty();
    EXPECT_LE(found, 2000 * 0.05 + 2 * std::sqrt(2000 * 0.05 * 0.95)) << size;
  }
}

// As much drift as noise, of which nine tenths stay from one value to the next.
TEST(Steps, AreSeldomFoundInDrift) {
  size_t found = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::vector<double> fresh = noise(30, 5000 + seed);
    std::vector<double> series = noise(30, 9000 + seed);
    double drift = 0;
    for (size_t i = 0; i < series.size(); ++i) {
      drift = 0.9 * drift + std::sqrt(1 - 0.9 * 0.9) * fresh[i];
      series[i] += drift;
    }
    found += !steps_of(series).empty();
  }
  EXPECT_LE(found, 60U);
}

TEST(Steps, AreFoundWhereTheyWerePlanted) {
  size_t right = 0;
  size_t near = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<double> series = noise(30, 1000 + seed);
    for (size_t i = 20; i < series.size(); ++i) series[i] += 4;  // deviations
    const std::vector<size_t> steps = steps_of(series);
    right += steps == std::vector<size_t>{20};
    near += steps.size() == 1 && steps[0] >= 18 && steps[0] <= 22;
  }
  EXPECT_GE(near, 180U);
  EXPECT_GE(right, 150U);
}

TEST(Steps, CanBeSeveral) {
  const std::vector<double> series = {1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1};
  EXPECT_EQ(find_steps(series, 0.1), (std::vector<size_t>{4, 9}));
  EXPECT_TRUE(find_steps(series, 1).empty());
  EXPECT_TRUE(find_steps(std::span(series).first(4), 0.1).empty());
  EXPECT_TRUE(find_steps({}, 0.1).empty());
}

}  // namespace
}  // namespace culprit
