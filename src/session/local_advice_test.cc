#include "session/local_advice.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

PlacedAdvice make_advice(CostBranch branch, const char* line, double at_most) {
  PlacedAdvice one;
  one.branch = branch;
  one.line = line;
  one.at_most = at_most;
  return one;
}

LocalityAdvice make_piece(const char* title, const char* line, double share) {
  LocalityAdvice piece;
  piece.title = title;
  piece.reason = "Lines come back too late.";
  piece.lines = {line};
  piece.objects = {"matrix"};
  piece.share = share;
  return piece;
}

TEST(AddLocalAdvice, GoesToTheAdviceOnTheSameLine) {
  WhyReport why;
  why.advice = {make_advice(CostBranch::branch_misprediction, "a.c:9", 0.4),
                make_advice(CostBranch::load_latency, "a.c:9", 0.3)};
  add_local_advice({make_piece("swap the loops at a.c:8-9", "a.c:9", 0.25)}, why);
  ASSERT_EQ(why.advice.size(), 2u);
  EXPECT_EQ(why.advice[0].here, "");
  EXPECT_EQ(why.advice[1].here,
            "swap the loops at a.c:8-9. Lines come back too late. Data: matrix.");
}

TEST(AddLocalAdvice, PromisesNoMoreThanTheChangeSaves) {
  WhyReport why;
  why.advice = {make_advice(CostBranch::load_latency, "a.c:9", 0.5),
                make_advice(CostBranch::load_latency, "b.c:3", 0.4)};
  why.advice[0].gain = GainForecast{0.4, 0.3, 0.5};
  why.advice[1].gain = GainForecast{0.2, 0.1, 0.3};
  add_local_advice({make_piece("split item", "a.c:9", 0.08), make_piece("swap", "b.c:3", 0.15)},
                   why);
  // What only all waiting at b.c:3 is worth is more now.
  EXPECT_EQ(why.advice[0].line, "b.c:3");
  EXPECT_DOUBLE_EQ(why.advice[0].gain->expected, 0.2);
  EXPECT_DOUBLE_EQ(why.advice[1].gain->expected, 0.08);
  EXPECT_DOUBLE_EQ(why.advice[1].gain->low, 0.06);
  EXPECT_DOUBLE_EQ(why.advice[1].gain->high, 0.1);
}

TEST(AddLocalAdvice, StandsByItselfWhereNoOtherIsOfItsLine) {
  WhyReport why;
  why.advice = {make_advice(CostBranch::branch_misprediction, "a.c:9", 0.1)};
  add_local_advice({make_piece("align counters", "b.c:3", 0.5)}, why);
  ASSERT_EQ(why.advice.size(), 2u);
  EXPECT_EQ(why.advice[0].line, "b.c:3");  // it saves more
  EXPECT_DOUBLE_EQ(why.advice[0].at_most, 0.5);
  EXPECT_NE(why.advice[0].here, "");
}

}  // namespace
}  // namespace culprit
