#include "print/event_display.h"

#include <cmath>
#include <gtest/gtest.h>

namespace culprit {
namespace {

Event sampled() {
  Event event;
  event.provenance = Provenance::sampled;
  return event;
}

Value value_of(double value, uint64_t samples, double error) {
  Value out;
  out.value = value;
  out.samples = samples;
  out.error = error;
  return out;
}

// 400 samples whose weights differ: sums err by a tenth, which is no error of the share.
TEST(EventDisplay, AllOfItIsCertain) {
  const Value all = value_of(400, 400, 40);
  // Of the number of samples alone, by Wilson: 1.96^2 / (400 + 1.96^2) = 0.95 %.
  EXPECT_EQ(format_half_width(sampled(), all, all), "1.0");
}

// A half and the other half, each 200 +- 30: 100 * 1.96 * sqrt(2 * (0.5 * 30)^2) / 400 = 10.4.
TEST(EventDisplay, APartErrsWithTheRest) {
  const Value half = value_of(200, 200, 30);
  const Value all = value_of(400, 400, 30 * std::sqrt(2.0));
  EXPECT_EQ(format_half_width(sampled(), half, all), "10.4");
}

// A tenth that comes in bursts, 40 +- 20, of 400 +- 25: parts of 0.9 * 20 and 0.1 * 15.
TEST(EventDisplay, BurstsHaveAnErrorOfTheirOwn) {
  EXPECT_EQ(format_half_width(sampled(), value_of(40, 40, 20), value_of(400, 400, 25)), "8.9");
}

}  // namespace
}  // namespace culprit
