#include "simulate/turns/turn_order.h"

#include <gtest/gtest.h>

namespace culprit::counting {
namespace {

constexpr TurnQuanta kQuanta{.shortest = 100, .longest = 400};

TEST(TurnOrder, LowestClockIsNextAndTheNumberDecidesBetweenEqualOnes) {
  TurnOrder order(kQuanta);
  EXPECT_EQ(order.next(), std::nullopt);
  order.wait(2, 50, true);
  order.wait(1, 70, true);
  EXPECT_EQ(order.next(), 2U);
  order.wait(0, 50, false);
  EXPECT_EQ(order.next(), 0U);
  EXPECT_EQ(order.next(true), 2U);  // 0 waits in a call
}

TEST(TurnOrder, WhoRunsSleepsOrIsToComeIsNotNext) {
  TurnOrder order(kQuanta);
  for (const TurnState state : {TurnState::running, TurnState::asleep, TurnState::arriving,
                                TurnState::released, TurnState::parked, TurnState::absent}) {
    order.wait(0, 1, true);
    order.set(0, state);
    EXPECT_EQ(order.next(), std::nullopt);
    EXPECT_EQ(order.state(0), state);
  }
}

TEST(TurnOrder, TurnEndsAQuantumBeyondTheLowestOfTheOthers) {
  TurnOrder order(kQuanta);
  order.set(0, TurnState::running);
  EXPECT_EQ(order.turn_end(0), TurnOrder::kNever);  // alone
  order.wait(1, 1000, true);
  order.wait(2, 900, true);
  EXPECT_EQ(order.turn_end(0), 900U + 100U);
}

TEST(TurnOrder, QuantumGrowsWhileNothingIsSharedAndFallsBack) {
  TurnOrder order(kQuanta);
  order.set(0, TurnState::running);
  order.wait(1, 0, true);
  for (const uint64_t quantum : {200U, 400U, 400U}) {
    order.adapt(0, false);
    EXPECT_EQ(order.turn_end(0), quantum);
  }
  order.adapt(0, true);
  EXPECT_EQ(order.turn_end(0), 100U);
}

TEST(TurnOrder, OneThatKeepsItsTurnIsBeforeAllThatWait) {
  TurnOrder order(kQuanta);
  order.set(1, TurnState::running);
  order.set_clock(1, 100);
  EXPECT_TRUE(order.is_first(1));
  order.wait(2, 100, true);
  EXPECT_TRUE(order.is_first(1));
  order.wait(0, 100, true);
  EXPECT_FALSE(order.is_first(1));
}

TEST(TurnOrder, WhoIsWokenDoesNotComeFromThePast) {
  TurnOrder order(kQuanta);
  order.set(0, TurnState::asleep);
  order.set_clock(0, 30);
  order.join_at(0, 500);
  EXPECT_EQ(order.clock(0), 500U);
  order.join_at(0, 400);
  EXPECT_EQ(order.clock(0), 500U);
}

TEST(TurnOrder, NumberThatIsUsedAgainBeginsAnew) {
  TurnOrder order(kQuanta);
  order.wait(0, 7, true);
  order.adapt(0, false);
  order.set(0, TurnState::absent);
  EXPECT_EQ(order.clock(0), 0U);
  order.set(0, TurnState::running);
  order.wait(1, 0, true);
  EXPECT_EQ(order.turn_end(0), 100U);
}

/// What two threads do that each advance by `steps` per block: the numbers, block by block.
std::vector<unsigned> run(uint64_t step_of_0, uint64_t step_of_1, size_t blocks) {
  TurnOrder order(kQuanta);
  const uint64_t steps[] = {step_of_0, step_of_1};
  uint64_t clocks[] = {0, 0};
  unsigned running = 0;
  order.set(0, TurnState::running);
  order.wait(1, 0, true);
  std::vector<unsigned> ran;
  while (ran.size() < blocks) {
    if (clocks[running] >= order.turn_end(running)) {
      order.set_clock(running, clocks[running]);
      if (!order.is_first(running)) {
        order.wait(running, clocks[running], true);
        running = *order.next();
        order.set(running, TurnState::running);
      }
    }
    ran.push_back(running);
    clocks[running] += steps[running];
  }
  return ran;
}

TEST(TurnOrder, FasterThreadRunsMoreBlocksInTheSameTime) {
  // By hand: 0 runs to 100; 1, from 0, to 200; 0, from 100, to 300; 1, from 200, to 400.
  const std::vector<unsigned> expected = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0,
                                          0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0};
  EXPECT_EQ(run(50, 25, expected.size()), expected);
}

}  // namespace
}  // namespace culprit::counting
