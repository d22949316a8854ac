#include "scan/weighed.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

Series series(const char* name, std::vector<std::optional<double>> values) {
  Series out{name, {}, false};
  for (const std::optional<double>& value : values) {
    Mark mark;
    if (value) mark.value = Estimate{*value, 0};
    out.marks.push_back(mark);
  }
  return out;
}

/// Two programs at two sizes with two setups, of which one is never the best in `often`.
Answer example() {
  Answer answer;
  answer.over = "DIM";
  answer.by = "setup";
  answer.panels = {{"often", {"1", "2"}, {series("a", {10, 30}), series("b", {12, 32})}},
                   {"once", {"1", "2"}, {series("a", {100, 100}), series("b", {10, 10})}}};
  return answer;
}

TEST(Weighed, UsesDecideWhichSetupIsTheBest) {
  // a: 100 x 20 + 1 x 100 = 2100; b: 100 x 22 + 1 x 10 = 2210.
  const auto often = weigh(example(), {{"often", 100}, {"once", 1}});
  ASSERT_TRUE(often);
  EXPECT_EQ(often->at(0).name, "a");
  EXPECT_DOUBLE_EQ(often->at(0).sum.value, 2100);
  EXPECT_DOUBLE_EQ(often->at(1).sum.value, 2210);
  EXPECT_DOUBLE_EQ(often->at(1).ratio, 2210.0 / 2100);
  // a: 20 + 100 = 120; b: 22 + 10 = 32.
  const auto alike = weigh(example(), {{"o*", 1}});
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->at(0).name, "b");
  EXPECT_DOUBLE_EQ(alike->at(0).sum.value, 32);
}

TEST(Weighed, AProgramWithoutAUseDoesNotCount) {
  const auto all = weigh(example(), {{"once", 2}});
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(all->at(0).sum.value, 20);
  EXPECT_DOUBLE_EQ(all->at(1).sum.value, 200);
}

TEST(Weighed, WhatHasNoValueSomewhereIsNotCompared) {
  Answer answer = example();
  answer.panels[1].series[1].marks[0].value.reset();
  const auto all = weigh(answer, {{"*", 1}});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at(0).name, "a");
  EXPECT_FALSE(all->at(1).is_complete);
  answer.panels[1].series.pop_back();
  const auto without = weigh(answer, {{"*", 1}});
  ASSERT_TRUE(without);
  EXPECT_FALSE(without->at(1).is_complete);
}

TEST(Weighed, NamesMustBeThoseOfPrograms) {
  EXPECT_FALSE(weigh(example(), {{"never", 1}}));
  Answer over_programs = example();
  over_programs.over = "program";
  EXPECT_FALSE(weigh(over_programs, {{"often", 1}}));
}

TEST(Use, IsAPatternAndANumberAboveZero) {
  const auto use = parse_use("mat*=1e6");
  ASSERT_TRUE(use);
  EXPECT_EQ(use->program, "mat*");
  EXPECT_EQ(use->count, 1e6);
  for (const char* bad : {"", "x", "x=", "=3", "x=0", "x=-1", "x=nan", "x=inf", "x=3s"}) {
    EXPECT_FALSE(parse_use(bad)) << bad;
  }
}

}  // namespace
}  // namespace culprit::scan
