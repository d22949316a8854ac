#include "simulate/machine/set_sample.h"

#include <array>
#include <cmath>
#include <map>

#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

TEST(SetSample, TakesOneOfNGroupsOfSets) {
  const Result<SetSample> sample =
      SetSample::make(MachineModel(), {.one_of = 16, .seed = 1});  // L1: 64 sets
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->drawn_groups(), 4U);
  EXPECT_EQ(sample->one_of(), 16U);
  int taken = 0;
  for (uint64_t line = 0; line < 64; ++line) {
    EXPECT_EQ(sample->holds(line), sample->holds(line + 64 * 1000));
    taken += sample->holds(line) ? 1 : 0;
  }
  EXPECT_EQ(taken, 4);
}

TEST(SetSample, RefusesWhatTheSetsDoNotAllow) {
  EXPECT_FALSE(SetSample::make(MachineModel(), {.one_of = 3, .seed = 1}));
  EXPECT_FALSE(
      SetSample::make(MachineModel(), {.one_of = 64, .seed = 1}));  // one group has no variance
  EXPECT_TRUE(SetSample::make(MachineModel(), {.one_of = 32, .seed = 1}));
  EXPECT_FALSE(SetSample::make(MachineModel(), {.one_of = 0, .seed = 1}));
}

// Cochran's formula by hand: counts 10 and 14 of 2 out of 8 groups: total 8 x 12 = 96;
// s^2 = 8, variance 64 x (1 - 1/4) x 8 / 2 = 192.
TEST(SetSample, EstimatesTotalsWithTheirVariance) {
  MachineModel machine = plain_machine(512 * 2, 2, 0, 2);  // 8 sets
  machine.l1i = machine.l1d;
  const Result<SetSample> sample = SetSample::make(machine, {.one_of = 4});
  ASSERT_TRUE(sample);
  const uint64_t counts[] = {10, 14};
  const SampledCount total = sample->estimate_total(counts);
  EXPECT_DOUBLE_EQ(total.value, 96);
  EXPECT_DOUBLE_EQ(total.variance, 192);
  const SampledCount part = sample->estimate_part(10, 2);
  EXPECT_DOUBLE_EQ(part.value, 40);
  EXPECT_DOUBLE_EQ(part.variance, 2 * 10 * 0.75 * 16);
}

TEST(SetSample, HoldsAllUntilItBegins) {
  Result<SetSample> sample = SetSample::make(MachineModel(), {.one_of = 16, .begins_later = true});
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->weight(), 1U);
  for (uint64_t line = 0; line < 64; ++line) EXPECT_EQ(sample->stratum_of(line), 0);
  const std::vector<uint64_t> even(64, 100);
  sample->begin(even);
  EXPECT_EQ(sample->weight(), 16U);
  std::vector<int> held(5);
  for (uint64_t line = 0; line < 64; ++line) {
    if (sample->holds(line)) ++held[sample->stratum_of(line)];
  }
  EXPECT_EQ(held, (std::vector<int>{0, 1, 1, 1, 1}));
}

// One hot group of 64: four stay for certain, so that each of four drawn from 60 stands for 15.
TEST(SetSample, HotGroupsStayForCertain) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Result<SetSample> sample =
        SetSample::make(MachineModel(), {.one_of = 16, .seed = seed, .begins_later = true});
    ASSERT_TRUE(sample);
    std::vector<uint64_t> heat(64, 1);
    heat[37] = 1000;
    sample->begin(heat);
    EXPECT_EQ(sample->weight(), 15U);
    EXPECT_EQ(sample->stratum_of(37), SetSample::kCertain);
    int held = 0;
    for (uint64_t line = 0; line < 64; ++line) held += sample->holds(line) ? 1 : 0;
    EXPECT_EQ(held, 8);
  }
}

/// Misses of a program that uses sets unevenly, in the sampled sets, by group.
std::vector<uint64_t> run(const HierarchyOptions& options, const Hierarchy*& kept) {
  static std::unique_ptr<Hierarchy> memory;
  memory = *Hierarchy::make(plain_machine(32 << 10, 8, 1 << 20, 16), options);
  kept = memory.get();
  CoreState& core = memory->add_core();
  std::vector<uint64_t> misses(std::max(memory->sample().drawn_groups(), 1U));
  uint64_t random = 1;
  for (int i = 0; i < 60000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const uint64_t spread = random >> 62 == 0 ? 1 << 18 : 1 << 16;
    const uint64_t address = (random >> 30) % spread * ((random >> 62) + 1);
    const Outcome outcome = load(core, address & ~uint64_t{7});
    if (outcome.missed_lines == 0) continue;
    misses[memory->sample().is_all() ? 0 : memory->sample().stratum_of(address >> 6) - 1] +=
        outcome.missed_lines;
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

/// Tenures of a machine, all strata together, and whether any is in one that was drawn.
using TenureSums = std::map<std::pair<Level, uint32_t>, std::array<uint64_t, 5>>;
TenureSums sum_all_tenures(Hierarchy& memory) {
  memory.finish();
  TenureSums rows;
  for (const Level level : {Level::l1d, Level::l1i, Level::l2, Level::l3}) {
    for (uint32_t stratum = 0; stratum < memory.cores()[0]->strata(level); ++stratum) {
      TenureTable& table = memory.cores()[0]->tenures(level, static_cast<uint8_t>(stratum));
      for (const auto& [origin, sums] : table.sites()) {
        auto& row = rows[{level, origin.bits()}];
        row[0] += sums.lines;
        row[1] += sums.touches;
        row[2] += sums.bytes_touched;
        row[3] += sums.bytes_accessed;
        row[4] += sums.lines_reused;
      }
    }
  }
  return rows;
}

/// Loads of 8 bytes, some near each other, some far apart: call(address, site).
void make_mixed_accesses(int count, const auto& call) {
  uint64_t random = 1;
  for (int i = 0; i < count; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    const uint64_t spread = random >> 63 == 0 ? 1 << 20 : 1 << 15;
    call((random >> 30) % spread & ~uint64_t{7}, static_cast<Site>(1 + (random >> 60) % 7));
  }
}

std::unique_ptr<Hierarchy> make_sampled_machine(HierarchyOptions options) {
  MachineModel machine = plain_machine(32 << 10, 8, 1 << 20, 16);
  machine.l2.size_bytes = 128 << 10;
  options.locality = Locality::all;
  return *Hierarchy::make(machine, options);
}

// Sets do not know of each other: those that are held see what they would see alone.
TEST(SetSample, TenuresAreThoseOfTheSetsThatItHolds) {
  const auto sampled = make_sampled_machine({.sample_sets = 8});
  const auto all = make_sampled_machine({});
  CoreState& core = sampled->add_core();
  CoreState& other = all->add_core();
  make_mixed_accesses(50'000, [&](uint64_t address, Site site) {
    const uint8_t stratum = sampled->sample().stratum_of(address >> 6);
    if (stratum == SetSample::kNotTaken) return;
    access_sampled(core, address, 8, AccessType::load, site, stratum);
    load(other, address, 8, site);
  });
  const TenureSums rows = sum_all_tenures(*sampled);
  EXPECT_EQ(rows, sum_all_tenures(*all));
  EXPECT_GT(rows.size(), 20U);
}

// Until it begins a sample is of all; what was accessed until then stays as it is told, in sets
// that are followed no more, too.
TEST(SetSample, WhatWasAccessedBeforeItBeginsIsExact) {
  const auto sampled = make_sampled_machine({.sample_sets = 8, .samples_later = true});
  CoreState& core = sampled->add_core();
  uint64_t bytes = 0;
  make_mixed_accesses(20'000, [&](uint64_t address, Site site) {
    access_sampled(core, address, 8, AccessType::load, site, SetSample::kCertain);
    bytes += 8;
  });
  sampled->begin_sample(std::vector<uint64_t>(64, 1));
  note_sample(core);
  uint64_t accessed = 0;
  for (const auto& [key, row] : sum_all_tenures(*sampled)) {
    if (key.first == Level::l1d) accessed += row[3];
  }
  EXPECT_EQ(accessed, bytes);
}

}  // namespace
}  // namespace culprit::simulate
