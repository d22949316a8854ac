// A clock in virtual time: once a second it gets a new period, as the daemon's have it.

#include "daemon/random_periods.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace culprit {
namespace {

constexpr uint64_t kChangeNs = 1'000'000'000;
constexpr uint64_t kPeriodNs = 1'000'003;
constexpr size_t kPhases = 20;

using Phases = std::array<uint64_t, kPhases>;

/// How many samples fall into each twentieth of a beat. The daemon wakes up some microseconds after
/// it is to, and sleeps for a second from then on.
Phases sample_beat(RandomPeriods& periods, std::mt19937_64& lateness, uint64_t beat_ns,
                   uint64_t changes) {
  Phases phases{};
  uint64_t now_ns = 0;
  for (uint64_t change = 0; change < changes; ++change) {
    const uint64_t period_ns = periods.draw(kPeriodNs);
    const uint64_t end_ns = now_ns + kChangeNs + 50'000 + lateness() % 50'000;
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
    sum += compute_chi_squared(sample_beat(periods, lateness, beat_ns, 100));
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
    EXPECT_GE(period_ns, kPeriodNs / 1.25 - 1);
    EXPECT_LE(period_ns, kPeriodNs / 0.75 + 1);
    rates += 1 / period_ns;
  }
  // The standard error of a uniform mean is 0.5/sqrt(12 x 100,000) = 0.0005 of the rate.
  EXPECT_NEAR(rates / kDraws * kPeriodNs, 1, 0.0025);
}

// A program that works in two alternating phases, 0.3 and 0.7 of each millisecond.
TEST(RandomPeriods, SharesOfAlternatingPhasesAreWithinTheirIntervals) {
  constexpr int kTimes = 300;
  RandomPeriods periods(11);
  std::mt19937_64 lateness(2);
  int within = 0;
  for (int time = 0; time < kTimes; ++time) {
    const Phases phases = sample_beat(periods, lateness, 1'000'000, 60);
    double first = 0;
    double all = 0;
    for (size_t i = 0; i < kPhases; ++i) {
      all += static_cast<double>(phases[i]);
      if (i < 6) first += static_cast<double>(phases[i]);
    }
    // The interval of a report: 1.96 standard errors of a count.
    if (std::abs(first - 0.3 * all) < 1.96 * std::sqrt(first)) ++within;
  }
  EXPECT_GE(within, kTimes * 90 / 100);
}

}  // namespace
}  // namespace culprit
