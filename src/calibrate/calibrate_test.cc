// This machine, measured with small walks: what holds on any.

#include "calibrate/calibrate.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

constexpr auto kNever = [] { return false; };
constexpr auto kSilent = [](double) {};

const Figure* find(const Calibration& found, const std::string& section) {
  for (const Figure& figure : found.figures) {
    if (figure.section == section) return &figure;
  }
  return nullptr;
}

// A core's caches answer in 3 to 6 cycles, and in 9 to 40 from L2; a clock is 0.5 to 7 GHz.
TEST(Calibrate, FindsWhatEveryCoreHas) {
  simulate::MachineModel machine;
  machine.l1d.size_bytes = 32 << 10;
  machine.l2.size_bytes = 256 << 10;
  const Calibration found =
      calibrate(machine, {.rounds = 5, .most_bytes = 1 << 20}, kNever, kSilent);
  EXPECT_TRUE(found.is_complete);
  EXPECT_EQ(found.rounds, 5u);
  EXPECT_GT(found.hertz, 0.5e9);
  EXPECT_LT(found.hertz, 7e9);
  const Figure* const l1d = find(found, "l1d");
  ASSERT_NE(l1d, nullptr);
  EXPECT_GE(l1d->value, 3);
  EXPECT_LE(l1d->value, 8);
  const Figure* const l2 = find(found, "l2");
  EXPECT_TRUE(l2 == nullptr || l2->value > l1d->value);
}

TEST(Calibrate, EndsAtOnceWhereItIsInterrupted) {
  const Calibration found =
      calibrate({}, {.rounds = 9, .most_bytes = 1 << 20}, [] { return true; }, kSilent);
  EXPECT_FALSE(found.is_complete);
  EXPECT_EQ(found.rounds, 0u);
}

}  // namespace
}  // namespace culprit
