// Forecasts of loops whose times with and without a class of cost follow by hand.

#include "simulate/machine/forecast.h"

#include <gtest/gtest.h>

namespace culprit::simulate {
namespace {

constexpr Register kPointer = 1;
constexpr Register kSum = 2;
constexpr Site kLoad = 1;
constexpr Site kAdd = 2;
constexpr Site kBranch = 3;

/// A loop of one block: loads the next pointer, adds to a sum, branches.
class Forecasts : public ::testing::Test {
 protected:
  Forecasts() : replays_(4), sites_(4) {
    costs_.resize(3);
    costs_[0].loads = 1;
    costs_[0].latency_cycles = 0;
    costs_[0].addresses[0] = costs_[0].writes[0] = kPointer;
    costs_[1].reads[0] = costs_[1].writes[0] = kSum;
  }

  /// 512 runs before the first stretch, then one stretch of 1,024.
  void run(uint16_t memory_cycles, Misprediction misprediction = Misprediction::none) {
    BlockCycles block = compute_block_cycles(costs_, {}, machine_.core);
    for (Site site = 1; site <= 3; ++site) block.steps[site - 1].site = site;
    Forecaster forecaster(machine_, replays_.data());
    IntervalCore core(machine_, sites_.data());
    Outcome miss;
    if (memory_cycles != 0) {
      miss.source = DataSource::memory;
      miss.missed_lines = 1;
      miss.latency_cycles = memory_cycles;
    }
    for (int i = 0; i < 512 + 1024 + 1; ++i) {
      core.end_block();
      if (i > 0) core.branch(kBranch, misprediction);
      forecaster.step(core);
      core.begin_block(block);
      core.load(0, miss, 0x10000 + 4096 * static_cast<uint64_t>(i));
    }
  }

  /// Cycles of an iteration in the stretch, at whose end the load queue is full of loads that
  /// nobody has waited for.
  [[nodiscard]] double cycles(Change change) const {
    Ticks sum = 0;
    for (const ReplayTicks& site : replays_) sum += site.ticks[static_cast<size_t>(change)];
    return to_cycles(sum) / (1024 - machine_.core.load_queue);
  }

  MachineModel machine_;
  std::vector<InstructionCosts> costs_;
  std::vector<ReplayTicks> replays_;
  std::vector<SiteTicks> sites_;
};

// Both chains run side by side: the shorter one shows when the longer one is gone.
TEST_F(Forecasts, WhatHidBehindALatencyShows) {
  costs_[1].latency_cycles = 150;
  run(200);
  EXPECT_NEAR(cycles(Change::nothing), 200, 2);
  EXPECT_NEAR(cycles(Change::load_latency), 150, 2);
  EXPECT_NEAR(cycles(Change::memory), 150, 2);
  EXPECT_NEAR(cycles(Change::l3), 200, 2);
  // The pointers still wait for each other.
  EXPECT_NEAR(cycles(Change::chains), 200, 2);
  EXPECT_NEAR(cycles(Change::slow_latency), 400, 4);
}

TEST_F(Forecasts, ALongChainOfOperationsIsBroken) {
  costs_[1].latency_cycles = 20;
  run(0);
  EXPECT_NEAR(cycles(Change::nothing), 20, 0.5);
  EXPECT_NEAR(cycles(Change::chains), 5, 0.2);  // four that take turns
  EXPECT_NEAR(cycles(Change::load_latency), 20, 0.5);
}

// Then the loop takes what its pointers in L1 do.
TEST_F(Forecasts, MispredictionsGo) {
  run(0, Misprediction::direction);
  EXPECT_GT(cycles(Change::nothing), machine_.core.mispredict_cycles);
  EXPECT_NEAR(cycles(Change::misprediction), machine_.l1d.latency_cycles, 0.2);
  EXPECT_EQ(cycles(Change::stores), cycles(Change::nothing));
}

// 5 of the 30 cycles of a chained division are left, which is what the multiplication takes.
TEST_F(Forecasts, DivisionsBecomeMultiplications) {
  costs_[1].latency_cycles = 30;
  costs_[1].divider_cycles = 10;
  run(0);
  EXPECT_NEAR(cycles(Change::nothing), 30, 0.5);
  EXPECT_NEAR(cycles(Change::divider), 5, 0.5);
}

TEST_F(Forecasts, TimeIsWhereItIsSpent) {
  run(200);
  const auto at = [&](Site site, Change change) {
    return to_cycles(replays_[site].ticks[static_cast<size_t>(change)]) /
           (1024 - machine_.core.load_queue);
  };
  EXPECT_NEAR(at(kLoad, Change::nothing), 200, 2);
  EXPECT_LT(at(kAdd, Change::nothing), 1);
  EXPECT_LT(at(kLoad, Change::load_latency), 5);
}

}  // namespace
}  // namespace culprit::simulate
