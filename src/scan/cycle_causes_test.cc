// Cells made by hand: cycles of each class, and instructions by kind, on two lines.

#include "scan/cycle_causes.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

using Values = std::vector<std::pair<const char*, double>>;

/// Two cells; a value stands at kernel.cc:7 but for a tenth of it, which is at kernel.cc:9.
class Pair {
 public:
  Pair(const Values& a, const Values& b) {
    for (const Values* values : {&a, &b}) {
      for (const auto& [name, value] : *values) {
        if (find_event(profile_, name) != SIZE_MAX) continue;
        Event event;
        event.name = profile_.strings.intern(name);
        profile_.events.push_back(event);
      }
    }
    fill(0, a);
    fill(1, b);
  }
  Pair& with_error(const char* event, double error) {
    costs_[0].totals[find_event(profile_, event)].standard_error = error;
    return *this;
  }
  [[nodiscard]] std::vector<Cause> causes() const {
    return find_causes(profile_, {&costs_[0], &lines_[0], {}}, {&costs_[1], &lines_[1], {}}, {});
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Cause& one : causes()) names.push_back(one.name);
    return names;
  }

 private:
  void fill(int side, const Values& values) {
    PlaceRow rows[] = {{"kernel.cc:7", "", "main"}, {"kernel.cc:9", "", "main"}};
    costs_[side].totals.resize(profile_.events.size());
    for (PlaceRow& row : rows) row.per_iteration.resize(profile_.events.size());
    for (const auto& [name, value] : values) {
      const size_t event = find_event(profile_, name);
      costs_[side].totals[event].value = value;
      rows[0].per_iteration[event].value = 0.9 * value;
      rows[1].per_iteration[event].value = 0.1 * value;
    }
    for (PlaceRow& row : rows) lines_[side].rows.push_back(row);
  }

  Profile profile_;
  CellCosts costs_[2];
  PlaceTable lines_[2];
};

using Names = std::vector<std::string>;

TEST(CycleCauses, AWaitIsToldWhereInstructionsAreTheSame) {
  // 13.1 cycles differ: 12.96 by forwarding, 0.14 by nothing else.
  const Pair pair(
      {{"instructions", 13},
       {"L1-dcache-loads", 2},
       {"sim:cycles", 16.1},
       {"sim:forward-refused-cycles", 12.96},
       {"sim:base-cycles", 3.14}},
      {{"instructions", 13}, {"L1-dcache-loads", 2}, {"sim:cycles", 3}, {"sim:base-cycles", 3}});
  const std::vector<Cause> causes = pair.causes();
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].name, "forwarding");
  EXPECT_EQ(causes[0].text,
            "A has refused store forwarding: 12.96 of 13.1 modelled cycles more in an iteration");
  EXPECT_EQ(causes[0].place, "kernel.cc:7");
  EXPECT_NEAR(causes[0].weight, 12.96, 1e-9);
  EXPECT_STREQ(unit_of(causes[0]), "cycles");
}

TEST(CycleCauses, StandAmongThoseOfInstructionsByCycles) {
  // B takes 40 more: 25 wait, 15 execute 20 moves and 4 conversions more. Moves weigh 10,
  // conversions 4: they stand for 15 and 6 cycles.
  const auto names = [](double waiting, double executing) {
    return Pair({{"instructions", 10},
                 {"L1-dcache-loads", 1},
                 {"sim:cycles", 10},
                 {"sim:base-cycles", 10}},
                {{"instructions", 34},
                 {"L1-dcache-loads", 1},
                 {"moves", 20},
                 {"conversions", 4},
                 {"sim:cycles", 10 + waiting + executing},
                 {"sim:misprediction-cycles", waiting},
                 {"sim:base-cycles", 10 + executing}})
        .names();
  };
  EXPECT_EQ(names(25, 15), (Names{"mispredictions", "moves", "conversions"}));
  EXPECT_EQ(names(12, 28), (Names{"moves", "mispredictions", "conversions"}));  // 28, 12, 11.2
  EXPECT_EQ(names(10, 30), (Names{"moves", "conversions", "mispredictions"}));  // 30, 10, 12
  EXPECT_EQ(names(5, 35), (Names{"moves", "conversions"}));                     // an eighth of it
}

TEST(CycleCauses, ChainsAndPortsAreWhatInstructionsTake) {
  // Of 20 cycles more the chain has 18; it is one of conversions, as far as code shows.
  const Pair pair(
      {{"instructions", 14},
       {"L1-dcache-loads", 1},
       {"conversions", 4},
       {"sim:cycles", 30},
       {"sim:serialization-cycles", 18},
       {"sim:base-cycles", 12}},
      {{"instructions", 10}, {"L1-dcache-loads", 1}, {"sim:cycles", 10}, {"sim:base-cycles", 10}});
  EXPECT_EQ(pair.names(), (Names{"conversions", "chains"}));
}

TEST(CycleCauses, WhatTheSlowerHasLessOfIsLast) {
  // B is slower by 427, as of the planted misprediction: 643 more, and 216 less of chains.
  const std::vector<Cause> causes = Pair({{"instructions", 355},
                                          {"L1-dcache-loads", 50},
                                          {"sim:cycles", 450},
                                          {"sim:serialization-cycles", 350},
                                          {"sim:base-cycles", 100}},
                                         {{"instructions", 555},
                                          {"L1-dcache-loads", 50},
                                          {"moves", 200},
                                          {"sim:cycles", 877},
                                          {"sim:misprediction-cycles", 643},
                                          {"sim:serialization-cycles", 134},
                                          {"sim:base-cycles", 100}})
                                        .causes();
  ASSERT_EQ(causes.size(), 3u);
  EXPECT_EQ(causes[0].text,
            "B has mispredicted branches: 643 modelled cycles more in an iteration, of which "
            "others take 216 back");
  EXPECT_EQ(causes[1].name, "moves");
  EXPECT_EQ(causes[2].text,
            "A has chains of instructions that need each other's results: 216 modelled cycles more "
            "in an iteration, though B takes 427 more in all");
}

TEST(CycleCauses, AreNoneWhereCyclesAreTheSameOrUncertain) {
  const auto pair = [](double waiting) {
    return Pair({{"instructions", 9},
                 {"L1-dcache-loads", 1},
                 {"sim:cycles", 100 + waiting},
                 {"sim:load-l2-cycles", waiting},
                 {"sim:base-cycles", 100}},
                {{"instructions", 9},
                 {"L1-dcache-loads", 1},
                 {"sim:cycles", 100},
                 {"sim:base-cycles", 100}});
  };
  EXPECT_EQ(pair(1.9).names(), Names());
  EXPECT_EQ(pair(5).names(), Names{"loads-l2"});
  EXPECT_EQ(pair(5).with_error("sim:load-l2-cycles", 2).names(), Names{"loads-l2"});
  EXPECT_EQ(pair(5).with_error("sim:load-l2-cycles", 3).names(), Names());
  // Without a model there are no classes.
  EXPECT_EQ(Pair({{"instructions", 9}, {"L1-dcache-loads", 1}, {"moves", 2}},
                 {{"instructions", 7}, {"L1-dcache-loads", 1}})
                .names(),
            Names{"moves"});
}

}  // namespace
}  // namespace culprit::scan
