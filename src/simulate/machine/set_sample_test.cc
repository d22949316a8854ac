#include "simulate/machine/set_sample.h"

#include <cmath>

#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

TEST(SetSample, TakesOneOfNGroupsOfSets) {
  const Result<SetSample> sample = SetSample::make(MachineModel(), 16, 1);  // L1: 64 sets
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->taken_groups(), 4U);
  EXPECT_EQ(sample->one_of(), 16U);
  int taken = 0;
  for (uint64_t line = 0; line < 64; ++line) {
    EXPECT_EQ(sample->holds(line), sample->holds(line + 64 * 1000));
    taken += sample->holds(line) ? 1 : 0;
  }
  EXPECT_EQ(taken, 4);
}

TEST(SetSample, RefusesWhatTheSetsDoNotAllow) {
  EXPECT_FALSE(SetSample::make(MachineModel(), 3, 1));
  EXPECT_FALSE(SetSample::make(MachineModel(), 64, 1));  // one group has no variance
  EXPECT_TRUE(SetSample::make(MachineModel(), 32, 1));
  EXPECT_FALSE(SetSample::make(MachineModel(), 0, 1));
}

// Cochran's formula by hand: counts 10 and 14 of 2 out of 8 groups: total 8 x 12 = 96;
// s^2 = 8, variance 64 x (1 - 1/4) x 8 / 2 = 192.
TEST(SetSample, EstimatesTotalsWithTheirVariance) {
  MachineModel machine = plain_machine(512 * 2, 2, 0, 2);  // 8 sets
  machine.l1i = machine.l1d;
  const Result<SetSample> sample = SetSample::make(machine, 4, 1);
  ASSERT_TRUE(sample);
  const uint64_t counts[] = {10, 14};
  const SampledCount total = sample->estimate_total(counts);
  EXPECT_DOUBLE_EQ(total.value, 96);
  EXPECT_DOUBLE_EQ(total.variance, 192);
  const SampledCount part = sample->estimate_part(10, 2);
  EXPECT_DOUBLE_EQ(part.value, 40);
  EXPECT_DOUBLE_EQ(part.variance, 2 * 10 * 0.75 * 16);
}

/// Misses of a program that uses sets unevenly, in the sampled sets, by group.
std::vector<uint64_t> run(const HierarchyOptions& options, const Hierarchy*& kept) {
  static std::unique_ptr<Hierarchy> memory;
  memory = *Hierarchy::make(plain_machine(32 << 10, 8, 1 << 20, 16), options);
  kept = memory.get();
  CoreState& core = memory->add_core();
  std::vector<uint64_t> misses(memory->sample().taken_groups());
  uint64_t random = 1;
  for (int i = 0; i < 60000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const uint64_t spread = random >> 62 == 0 ? 1 << 18 : 1 << 16;
    const uint64_t address = (random >> 30) % spread * ((random >> 62) + 1);
    const Outcome outcome = load(core, address & ~uint64_t{7});
    if (outcome.missed_lines == 0) continue;
    misses[memory->sample().group_of(address >> 6)] += outcome.missed_lines;
  }
  return misses;
}

// The mean of estimates over many seeds is the true count, and their spread is what the
// variance says: 100 samples of 8 of 64 groups.
TEST(SetSample, EstimatesAreUnbiasedAndSpreadAsTheySay) {
  const Hierarchy* memory = nullptr;
  const double truth = static_cast<double>(run({}, memory)[0]);
  double sum = 0;
  double squares = 0;
  double variance = 0;
  constexpr int seeds = 100;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::vector<uint64_t> misses = run({.sample_sets = 8, .sample_seed = seed}, memory);
    const SampledCount estimate = memory->sample().estimate_total(misses);
    sum += estimate.value;
    squares += (estimate.value - truth) * (estimate.value - truth);
    variance += estimate.variance;
  }
  const double spread = std::sqrt(squares / seeds);
  EXPECT_NEAR(sum / seeds, truth, 4 * spread / std::sqrt(seeds));
  // The spread of 100 draws is known to 7 %.
  EXPECT_NEAR(std::sqrt(variance / seeds), spread, 0.25 * spread);
  EXPECT_LT(spread, 0.1 * truth);
}

}  // namespace
}  // namespace culprit::simulate
