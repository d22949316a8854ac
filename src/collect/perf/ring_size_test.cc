#include "collect/perf/ring_size.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

std::vector<SampledGroup> at_frequency(uint64_t hz) {
  SampledEvent event;
  event.frequency_hz = hz;
  return {{event}};
}

TEST(RingSize, UsualRatesFitIntoWhatAnybodyMayLock) {
  SamplingSetup setup;
  setup.stacks = true;
  // 2 s x 500 Hz x 448 B = 448,000 B
  EXPECT_EQ(compute_ring_bytes(setup, at_frequency(500), 2), 512u << 10);
  EXPECT_EQ(compute_ring_bytes({}, at_frequency(4000), 2), 512u << 10);
}

TEST(RingSize, HoldsTwoSecondsOfManySamples) {
  SamplingSetup setup;
  setup.stacks = true;
  // 2 s x 20 kHz x 448 B = 17.9 MB
  EXPECT_EQ(compute_ring_bytes(setup, at_frequency(20'000), 2), 32u << 20);
  // 2 s x 20 kHz x 64 B = 2.56 MB
  EXPECT_EQ(compute_ring_bytes({}, at_frequency(20'000), 2), 4u << 20);
}

TEST(RingSize, AllRingsOfALargeMachineAreBounded) {
  SamplingSetup setup;
  setup.stacks = true;
  EXPECT_EQ(compute_ring_bytes(setup, at_frequency(20'000), 128), 2u << 20);  // 256 MB
  EXPECT_EQ(compute_ring_bytes(setup, at_frequency(20'000), 4096), 512u << 10);
}

TEST(RingSize, HoldsHalfASecondOfStackCopies) {
  SamplingSetup setup;
  setup.stack_copy_bytes = 8192;
  // 0.5 s x 1000 Hz x 8256 B = 4.1 MB
  EXPECT_EQ(compute_ring_bytes(setup, at_frequency(1000), 128), 4u << 20);
}

}  // namespace
}  // namespace culprit
