#include "scan/run/peak_rates.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

std::optional<double> peak_of(const char* cpu, uint32_t width = 6) {
  simulate::MachineModel machine;
  machine.llvm_cpu = cpu;
  machine.core.dispatch_width = width;
  return find_peak_flops(machine);
}

TEST(PeakRates, AreThoseOfTheVendorsTables) {
  // Two multiply-adds of 256 bits a cycle, or one of 512: 2 x 4 lanes x 2.
  EXPECT_EQ(peak_of("znver4"), 16);
  EXPECT_EQ(peak_of("haswell", 4), 16);
  // Two of 512 bits.
  EXPECT_EQ(peak_of("skylake-avx512", 4), 32);
  // No fused ones: a multiplication and an addition of 256 bits.
  EXPECT_EQ(peak_of("ivybridge", 4), 8);
  // Of 128 bits.
  EXPECT_EQ(peak_of("nehalem", 4), 4);
  // Two of 128 bits.
  EXPECT_EQ(peak_of("neoverse-n1", 4), 8);
}

TEST(PeakRates, AreNotKnownOfACpuWithoutAModel) {
  EXPECT_EQ(peak_of(""), std::nullopt);
  EXPECT_EQ(peak_of("zen99"), std::nullopt);
}

TEST(PeakRates, DispatchIsALimit) {
  EXPECT_EQ(peak_of("znver4", 1), 16);  // one of 512 bits
}

}  // namespace
}  // namespace culprit::scan
