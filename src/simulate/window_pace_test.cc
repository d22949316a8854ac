#include "simulate/window_pace.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

constexpr double kSecond = 1e9;
constexpr double kBudget = 60 * kSecond;
constexpr double kNative = 0.4 * kSecond;

struct Ended {
  double ns = 0;
  uint32_t share = 0;
};

/// A run whose counting takes `counting` times the native run, and modelling all of it `modelling`
/// times, with its share in windows as it is chosen on the way.
Ended run(double counting, double modelling) {
  WindowPace pace(kBudget, kNative);
  constexpr int kParts = 1000;
  Ended ended{5 * kSecond, pace.share()};
  for (int part = 0; part < kParts; ++part) {
    pace.look(ended.ns, double(part) / kParts);
    ended.share = pace.share();
    ended.ns += (counting + modelling * ended.share / 1e6) * kNative / kParts;
  }
  return ended;
}

// (60 - 4) / 0.4 = 140 times: more than a fifth is not wanted. Of 2 s: 28 times, 15 of them to
// count: 13 / 150 are in windows. Of 10 s: 5.6 times; a two-hundredth is, though it will not do.
TEST(WindowPace, IsForetoldByTheNativeRun) {
  EXPECT_EQ(WindowPace(kBudget, kNative).share(), 200'000U);
  EXPECT_NEAR(WindowPace(kBudget, 2 * kSecond).share(), 1e6 * 13 / 150, 1);
  EXPECT_EQ(WindowPace(kBudget, 10 * kSecond).share(), 5'000U);
}

TEST(WindowPace, StaysWhereThereIsTime) {
  const Ended ended = run(15, 150);  // 5 + 0.4 * 45 = 23 s
  EXPECT_EQ(ended.share, 200'000U);
  EXPECT_NEAR(ended.ns, 23 * kSecond, 1);
}

// With a fifth in windows these would take 95, 77 and 93 s.
TEST(WindowPace, IsLessWhereTheMachineIsSlow) {
  for (const auto& [counting, modelling] :
       {std::pair{75.0, 750.0}, {20.0, 800.0}, {100.0, 600.0}}) {
    const Ended ended = run(counting, modelling);
    EXPECT_LT(ended.ns, kBudget) << counting;
    EXPECT_GT(ended.ns, 0.85 * kBudget) << counting;
    EXPECT_LT(ended.share, 200'000U);
  }
}

TEST(WindowPace, IsAsLittleAsItGetsWhereCountingAloneTakesTooLong) {
  EXPECT_EQ(run(200, 500).share, 5'000U);  // 80 s
}

}  // namespace
}  // namespace culprit
