// The costs that the plugin gets, as the machine adds them up.

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "simulate/machine/cost_source.h"

extern "C" culprit::simulate::CostSource* culprit_make_cost_source(
    const char* target, const char* cpu, const culprit::InstructionTimings& timings,
    std::string& problem);

namespace culprit::simulate {
namespace {

using Bytes = std::vector<uint8_t>;

BlockCycles cycles_of(const Bytes& instruction) {
  std::string problem;
  const std::unique_ptr<CostSource> source(
      culprit_make_cost_source("x86_64", "znver4", InstructionTimings(), problem));
  EXPECT_NE(source, nullptr) << problem;
  if (!source) return {};
  const std::span<const uint8_t> code[] = {instruction};
  InstructionCosts costs[1];
  bool known[1] = {};
  const BlockCosts block = source->compute_costs(code, costs, known);
  EXPECT_TRUE(known[0]);
  return compute_block_cycles(costs, block, CoreSettings());
}

// div %rcx on Zen 4: 17 cycles (llvm-mca-19's reciprocal throughput).
TEST(CostModule, GivesWhatTheCpuTakes) {
  EXPECT_EQ(cycles_of({0x48, 0xf7, 0xf1}).total, 17 * kTicksPerCycle);
}

// rep movsq: its rounds are told one by one.
TEST(CostModule, RoundsOfStringInstructionsTakeNoTimeOfTheBlock) {
  EXPECT_EQ(cycles_of({0xf3, 0x48, 0xa5}).total, 0U);
}

TEST(CostModule, SaysWhyThereAreNone) {
  std::string problem;
  EXPECT_EQ(culprit_make_cost_source("x86_64", "zen99", InstructionTimings(), problem), nullptr);
  EXPECT_NE(problem.find("zen99"), std::string::npos);
}

}  // namespace
}  // namespace culprit::simulate
