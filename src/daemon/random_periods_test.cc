// A clock in virtual time: four times a second it gets a new period, as the daemon's have it.

#include "daemon/random_periods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace culprit {
namespace {

constexpr uint64_t kChangeNs = 250'000'000;
constexpr uint64_t kPeriodNs = 1'000'003;
constexpr size_t kPhases = 20;

using Phases = std::array<uint64_t, kPhases>;

/// How many samples fall into each twentieth of a beat. The daemon wakes up some microseconds after
/// it is to, and sleeps as long again from then on.
Phases sample_beat(RandomPeriods& periods, std::mt19937_64& lateness, uint64_t beat_ns,
                   uint64_t changes, uint64_t change_ns = kChangeNs) {
  Phases phases{};
  uint64_t now_ns = 0;
  for (uint64_t change = 0; change < changes; ++change) {
    const uint64_t period_ns = periods.draw(kPeriodNs);
    const uint64_t end_ns = now_ns + change_ns + 50'000 + lateness() % 50'000;
    for (now_ns += period_ns; now_ns < end_ns; now_ns += period_ns) {
      ++phases[now_ns % beat_ns * kPhases / beat_ns];
    }
    now_ns = end_ns;  // a new period begins at once
  }
  return phases;
}

double compute_chi_squared(const Phases& phases) {
  double samples = 0;
  for (const uint64_t count : phases) samples += static_cast<double>(count);
  const double expected = samples / static_cast<double>(kPhases);
  double sum = 0;
  for (const uint64_t count : phases) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

/// The mean over forty times a hundred seconds.
double mean_chi_squared(uint64_t beat_ns, double range = RandomPeriods::kRange) {
  constexpr int kTimes = 40;
  RandomPeriods periods(beat_ns, range);
  std::mt19937_64 lateness(1);
  double sum = 0;
  for (int i = 0; i < kTimes; ++i) {
    sum += compute_chi_squared(sample_beat(periods, lateness, beat_ns, 400));
  }
  return sum / kTimes;
}

TEST(RandomPeriods, PhasesAgainstABeatAreAsFrequentAsByChance) {
  // By chance the mean is 19, the degrees of freedom. A single time varies more than by chance,
  // since a period may be the beat itself.
  EXPECT_LT(mean_chi_squared(1'000'000), 30);
  EXPECT_LT(mean_chi_squared(900'000), 30);
  EXPECT_LT(mean_chi_squared(4'000'000), 30);  // the kernel's own clock, at 250 Hz
}

// What the clocks had before, and what a clock has that never changes: the beat is seen.
TEST(RandomPeriods, ANarrowRangeWouldFavourSomePhases) {
  const double chance = 19;
  EXPECT_GT(mean_chi_squared(1'000'000, 1.0 / 16), 2 * chance);
  EXPECT_GT(mean_chi_squared(1'000'000, 0), 10 * chance);
}

TEST(RandomPeriods, TheirMeanRateIsTheOneAskedFor) {
  RandomPeriods periods(5);
  double rates = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto period_ns = static_cast<double>(periods.draw(kPeriodNs));
    EXPECT_GE(period_ns, kPeriodNs / (1 + RandomPeriods::kRange) - 1);
    EXPECT_LE(period_ns, kPeriodNs / (1 - RandomPeriods::kRange) + 1);
    rates += 1 / period_ns;
  }
  // The standard error of a uniform mean is 1/sqrt(12 x 100,000) = 0.0009 of the rate.
  EXPECT_NEAR(rates / kDraws * kPeriodNs, 1, 0.004);
}

/// Ten seconds of a program that works in two alternating phases, 0.3 and 0.7 of each millisecond:
/// how far its share is off, in standard errors of a count.
std::vector<double> measure_shares(double range, uint64_t change_ns, int times) {
  RandomPeriods periods(11, range);
  std::mt19937_64 lateness(2);
  std::vector<double> off;
  for (int time = 0; time < times; ++time) {
    const uint64_t changes = 10'000'000'000 / change_ns;
    const Phases phases = sample_beat(periods, lateness, 1'000'000, changes, change_ns);
    const auto all = static_cast<double>(std::accumulate(phases.begin(), phases.end(), 0ULL));
    const auto first =
        static_cast<double>(std::accumulate(phases.begin(), phases.begin() + 6, 0ULL));
    off.push_back(std::abs(first - 0.3 * all) / std::sqrt(first * (all - first) / all));
  }
  return off;
}

TEST(RandomPeriods, SharesOfAlternatingPhasesAreWithinTheirIntervals) {
  const std::vector<double> off = measure_shares(RandomPeriods::kRange, kChangeNs, 300);
  const auto within = std::count_if(off.begin(), off.end(), [](double one) { return one < 1.96; });
  EXPECT_GE(within, 300 * 90 / 100);
}

// A period that is the program's own sees one phase for as long as it is kept: of ten seconds one
// is a tenth, a quarter of one a fortieth.
TEST(RandomPeriods, ASinglePeriodWeighsLittle) {
  const auto worst = [](double range, uint64_t change_ns) {
    const std::vector<double> off = measure_shares(range, change_ns, 1000);
    return *std::max_element(off.begin(), off.end());
  };
  EXPECT_LT(worst(RandomPeriods::kRange, kChangeNs), 8);
  EXPECT_GT(worst(0.25, 1'000'000'000), 12);  // as they were drawn before
}

}  // namespace
}  // namespace culprit
