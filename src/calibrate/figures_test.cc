// Figures of rounds made by hand: a machine with L1D of 32 KiB (4 cycles), L2 of 1 MiB (14), an L3
// that sysfs says has 32 MiB, of which 4 MiB are ours (60), memory of 600 cycles.

#include "calibrate/figures.h"

#include <cmath>
#include <gtest/gtest.h>

#include "calibrate/calibration_text.h"

namespace culprit {
namespace {

constexpr uint64_t kKib = 1024;
constexpr uint64_t kMib = 1024 * kKib;

simulate::MachineModel make_machine() {
  simulate::MachineModel machine;
  machine.l1d.size_bytes = 32 * kKib;
  machine.l2.size_bytes = 1 * kMib;
  machine.l3.size_bytes = 32 * kMib;
  machine.tlb.second.entries = 1024;  // of 4 KiB: 4 MiB
  machine.tlb.second_latency_cycles = 7;
  machine.tlb.walk_level_cycles = 5;
  return machine;
}

Round make_round() {
  Round round;
  round.hertz = 3e9;
  for (uint64_t bytes = 8 * kKib; bytes <= 64 * kMib; bytes *= 2) {
    round.walk[bytes] = bytes <= 32 * kKib  ? 4
                        : bytes <= 1 * kMib ? 14
                        : bytes <= 4 * kMib ? 60
                                            : 600;
  }
  round.pages = 11;
  round.small[64 * kMib] = 600 + 15.0 / 16 * (7 + 3 * 5 + 40);  // a sixteenth is in the TLB
  round.walks = {{1, 600}, {8, 80}, {16, 50}, {32, 50}};
  round.reading = {{512 * kKib, 32}, {2 * kMib, 20}, {64 * kMib, 8}};
  round.known_branch = 1;
  round.random_branch = 9;
  round.one_set = 10;
  round.transfer = 200;
  return round;
}

const Figure* find(const FoundFigures& found, const std::string& section, const std::string& key) {
  for (const Figure& figure : found.figures) {
    if (figure.section == section && figure.key == key) return &figure;
  }
  return nullptr;
}

class Figures : public ::testing::Test {
 protected:
  void expect(const char* section, const char* key, double value) const {
    const Figure* const figure = find(found_, section, key);
    ASSERT_NE(figure, nullptr) << section << '.' << key;
    EXPECT_DOUBLE_EQ(figure->value, value) << section << '.' << key;
    EXPECT_LE(figure->interval.low, value);
    EXPECT_GE(figure->interval.high, value);
  }

  FoundFigures found_ = find_figures(std::vector<Round>(9, make_round()), make_machine());
};

TEST_F(Figures, AreThoseOfTheRounds) {
  EXPECT_TRUE(found_.lacks.empty());
  expect("l1d", "latency_cycles", 4);
  expect("l2", "latency_cycles", 14);
  expect("l3", "latency_cycles", 60);
  expect("memory", "latency_cycles", 600);
  expect("tlb", "second_latency_cycles", 7);
  expect("tlb", "walk_last_cycles", 40);
  expect("core", "miss_buffers", 12);       // 600 / 50
  expect("core", "mispredict_cycles", 16);  // half of the branches
  expect("memory", "bytes_per_cycle", 8);
  expect("memory", "l2_bytes_per_cycle", 32);
  expect("memory", "shared_bytes_per_cycle", 20);
  expect("memory", "l1d_set_cycles", 10);  // a line of L2 takes 2
  expect("memory", "other_core_modified_cycles", 200);
}

// Reading 20 bytes a cycle from a victim cache puts 20 there.
TEST(VictimCache, TakesALineForEachOneThatComes) {
  simulate::MachineModel machine = make_machine();
  machine.l3.inclusion = simulate::Inclusion::victim;
  const FoundFigures found = find_figures(std::vector<Round>(9, make_round()), machine);
  const Figure* const figure = find(found, "memory", "shared_bytes_per_cycle");
  ASSERT_NE(figure, nullptr);
  EXPECT_DOUBLE_EQ(figure->value, 40);
}

// Between 4 MiB (60) and 8 MiB (600) by logarithms: sqrt(60 x 600) = 190 is 24 % of the way.
TEST_F(Figures, L3IsWhatThisMachineGetsOfIt) {
  const Figure* const size = find(found_, "l3", "size_kib");
  ASSERT_NE(size, nullptr);
  EXPECT_NEAR(size->value, 4096 * std::pow(2, (std::sqrt(36000.0) - 60) / 540), 1);
  EXPECT_EQ(size->before, 32768);
}

TEST_F(Figures, WhatScattersIsNoisyAndThenNoFigure) {
  std::vector<Round> rounds(9, make_round());
  for (size_t i = 0; i < rounds.size(); ++i) {
    rounds[i].transfer = 200 + 20.0 * static_cast<double>(i);  // 240 to 320 of 280
    rounds[i].random_branch = i % 2 == 0 ? 2 : 20 + static_cast<double>(i);
  }
  const FoundFigures found = find_figures(rounds, make_machine());
  ASSERT_NE(find(found, "memory", "other_core_modified_cycles"), nullptr);
  EXPECT_FALSE(find(found, "memory", "other_core_modified_cycles")->is_kept());
  EXPECT_EQ(find(found, "core", "mispredict_cycles"), nullptr);
  ASSERT_EQ(found.lacks.size(), 1u);
  EXPECT_EQ(found.lacks[0].what, "a misprediction");

  // What is marked so is no part of the machine file: it keeps what it had before.
  Calibration calibration;
  calibration.figures = found.figures;
  const std::string file = print_machine_file(calibration, {"cpu", "a CPU", "2026-11-24"});
  EXPECT_EQ(file.find("\nother_core_modified_cycles"), std::string::npos) << file;
  EXPECT_NE(file.find("# memory.other_core_modified_cycles = 280"), std::string::npos) << file;
  EXPECT_NE(file.find("latency_cycles"), std::string::npos) << file;
}

// Beside others L3 has fewer hits the more bytes are walked through: no size is like that.
TEST_F(Figures, L3HasNoSizeWhereWalksSlowDownLittleByLittle) {
  Round round = make_round();
  round.walk[4 * kMib] = 120;
  round.walk[8 * kMib] = 200;
  round.walk[16 * kMib] = 330;
  round.walk[32 * kMib] = 470;
  const FoundFigures found = find_figures(std::vector<Round>(9, round), make_machine());
  EXPECT_EQ(find(found, "l3", "size_kib"), nullptr);
  ASSERT_EQ(found.lacks.size(), 1u);
  EXPECT_EQ(found.lacks[0].reason, "walks get slower little by little: no one size says it");
}

TEST_F(Figures, SayWhichOfThemOthersChange) {
  EXPECT_TRUE(find(found_, "l3", "latency_cycles")->is_shared);
  EXPECT_FALSE(find(found_, "core", "mispredict_cycles")->is_shared);
}

TEST_F(Figures, WhatWasNotMeasuredIsALack) {
  std::vector<Round> rounds(9, make_round());
  for (Round& round : rounds) round.transfer.reset();
  const FoundFigures found = find_figures(rounds, make_machine());
  ASSERT_EQ(found.lacks.size(), 1u);
  EXPECT_EQ(found.lacks[0].reason, "not measured here");
}

TEST_F(Figures, AreReadBackAsAMachine) {
  Calibration calibration;
  calibration.figures = found_.figures;
  const CalibrationHead head{"AuthenticAMD-25-11-1", "A \"CPU\"", "2026-11-24"};
  const auto machine =
      simulate::parse_machine(print_machine_file(calibration, head), "made.toml", make_machine());
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->calibrated_cpu, head.cpu);
  EXPECT_EQ(machine->calibrated_date, head.date);
  EXPECT_EQ(machine->l3.latency_cycles, 60u);
  EXPECT_EQ(machine->memory.bytes_per_cycle, 8);
  EXPECT_EQ(machine->l2.size_bytes, 1 * kMib);  // not measured: as it was
}

}  // namespace
}  // namespace culprit
