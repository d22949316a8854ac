#include "scan/kernel_rules.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

/// Cells of one program and setup at several sizes, each with what it costs and prints.
struct Kernel {
  Profile profile;
  std::vector<Cell> cells;
  std::vector<std::optional<CellCosts>> costs;
  std::vector<std::string> accepted;

  explicit Kernel(const std::vector<const char*>& events) {
    for (const char* name : events) {
      Event event;
      event.name = profile.strings.intern(name);
      profile.events.push_back(event);
    }
  }
  /// `values`: of the events.
  Kernel& add(const char* size, const std::vector<double>& values, const char* output = "",
              const char* setup = "gcc") {
    Cell cell;
    cell.name = {"vecadd", setup, {{"DIM", size}}};
    cell.details[std::string(kStatusLabel)] = kMeasured;
    cell.details[std::string(kOutputLabel)] = output;
    cell.details[std::string(kFloatLabel)] = kFloatNothing;
    cells.push_back(cell);
    CellCosts cost;
    for (const double value : values) cost.totals.push_back({value, 0});
    costs.push_back(cost);
    return *this;
  }
  [[nodiscard]] RuleFindings check() const {
    return check_kernel_rules(profile, cells, costs, accepted,
                              [](const Location&) { return "kernel.cc:12"; });
  }
  [[nodiscard]] std::vector<std::string> broken() const {
    std::vector<std::string> texts;
    for (const Broken& one : check().broken) texts.push_back(one.text);
    return texts;
  }
};

using Texts = std::vector<std::string>;

TEST(KernelRules, ALoopThatDoesNothingWasRemoved) {
  const std::vector<const char*> events = {"instructions", "L1-dcache-loads", "nops"};
  EXPECT_EQ(Kernel(events).add("5", {3, 0, 0}).broken(),
            (Texts{"an iteration is its loop's count and branch and nothing else: it was optimised "
                   "away [removed]"}));
  EXPECT_EQ(Kernel(events).add("5", {0, 0, 0}).broken().size(), 1u);
  // One load, three NOPs, four instructions of whatever kind: there is something.
  EXPECT_EQ(Kernel(events).add("5", {3, 1, 0}).broken(), Texts());
  EXPECT_EQ(Kernel(events).add("5", {3, 0, 1}).broken(), Texts());
  EXPECT_EQ(Kernel(events).add("5", {4, 0, 0}).broken(), Texts());
}

TEST(KernelRules, WorkThatOnlyOtherSetupsDoWasRemoved) {
  const std::vector<const char*> events = {"instructions", "flops"};
  EXPECT_EQ(Kernel(events).add("5", {90, 32}).add("5", {4, 0}, "", "clang").broken(),
            (Texts{"computes nothing in an iteration, and 32 floating-point operations with gcc: "
                   "they were optimised away [removed]"}));
  EXPECT_EQ(Kernel(events).add("5", {90, 32}).add("5", {40, 1}, "", "clang").broken(), Texts());
  EXPECT_EQ(Kernel(events).add("5", {90, 32}).add("6", {40, 0}, "", "clang").broken(), Texts());
}

TEST(KernelRules, AParameterThatChangesNothingIsTold) {
  const auto sizes = [](double last, const char* largest) {
    return Kernel({"instructions", "L1-dcache-loads"})
        .add("1", {9, 2})
        .add("10", {9, 2})
        .add(largest, {9, last})
        .broken();
  };
  // As numbers, in their order.
  EXPECT_EQ(sizes(2, "2"), (Texts{"costs the same at every DIM from 1 to 10, in all that is "
                                  "counted: does its work depend on it? [same_cost]"}));
  EXPECT_EQ(sizes(3, "2"), Texts());
  // Words have no sizes, and two values prove nothing.
  EXPECT_EQ(sizes(2, "many"), Texts());
}

TEST(KernelRules, ResultsAreNumbersThatDependOnTheWork) {
  const auto printing = [](const char* text) {
    return Kernel({"instructions"}).add("5", {9}, text).broken();
  };
  EXPECT_EQ(printing("sum = 1.5\n-nan"), (Texts{"prints -nan [values]"}));
  EXPECT_EQ(printing("result: inf."), (Texts{"prints inf [values]"}));
  EXPECT_EQ(printing("0 0.0\n"), (Texts{"prints nothing but zeros: are its operands? [values]"}));
  EXPECT_EQ(printing("0 1e-9"), Texts());
  EXPECT_EQ(printing("information about nano"), Texts());
  EXPECT_EQ(printing("no number"), Texts());
  const auto same = [](const char* last) {
    return Kernel({"instructions"}).add("1", {9}, "7").add("2", {10}, "7").add("3", {11}, last);
  };
  EXPECT_EQ(same("7").broken(), (Texts{"prints the same at every DIM from 1 to 3: does its result "
                                       "depend on the work? [same_output]"}));
  EXPECT_EQ(same("8").broken(), Texts());
}

TEST(KernelRules, OtherSetupsPrintTheSame) {
  Kernel kernel({"instructions"});
  kernel.add("1", {9}, "7")
      .add("2", {9}, "8")
      .add("1", {9}, "9", "clang")
      .add("2", {9}, "8", "clang");
  const RuleFindings found = kernel.check();
  ASSERT_EQ(found.broken.size(), 1u);
  EXPECT_EQ(found.broken[0].cell, 2u);
  EXPECT_EQ(found.broken[0].text, "prints something else than with gcc [same_output]");
}

TEST(KernelRules, LoadsThatWaitForStoresAreTold) {
  const std::vector<const char*> events = {"instructions", "sim:cycles",
                                           "sim:forward-refused-cycles"};
  const auto waiting = [&](double cycles) {
    Kernel kernel(events);
    kernel.add("5", {9, 100, cycles});
    PlaceCost place;
    place.per_iteration = {{9, 0}, {100, 0}, {cycles, 0}};
    kernel.costs[0]->places.push_back(place);
    return kernel;
  };
  EXPECT_EQ(waiting(12).broken(),
            (Texts{"a load at kernel.cc:12 waits for stores of which none wrote all that it reads: "
                   "written in pieces, read at once, or the other way round [forwarding]"}));
  EXPECT_EQ(waiting(0.5).broken(), Texts());
  EXPECT_TRUE(waiting(12).check().undecided.empty());
  Kernel accepting = waiting(12);
  accepting.accepted = {"forwarding vec*"};
  EXPECT_EQ(accepting.broken(), Texts());
  accepting.accepted = {"forwarding axpy", "values"};
  EXPECT_EQ(accepting.broken().size(), 1u);
}

TEST(KernelRules, WhatCannotBeCheckedIsTold) {
  Kernel kernel({"instructions"});
  kernel.add("1", {9}).add("2", {10});
  for (Cell& cell : kernel.cells) cell.details[std::string(kFloatLabel)] = "unknown: another CPU";
  const Texts undecided = kernel.check().undecided;  // each reason once
  ASSERT_EQ(undecided.size(), 2u);
  EXPECT_TRUE(undecided[0].starts_with("forwarding: without a machine model"));
  EXPECT_EQ(undecided[1], "values of vecadd gcc 1 and 1 more cell: another CPU");
}

TEST(KernelRules, ExceptionalOperationsHaveTheirPlaces) {
  Kernel kernel({"instructions"});
  kernel.add("1", {9});
  kernel.cells[0].details[std::string(kFloatLabel)] = "overflow\tkernel.cc:3\nunderflow";
  EXPECT_EQ(kernel.broken(),
            (Texts{"overflow, first at kernel.cc:3 [values]", "underflow [values]"}));
}

TEST(KernelRules, OnlyRulesCanBeAccepted) {
  EXPECT_TRUE(check_accepted("forwarding"));
  EXPECT_TRUE(check_accepted("values kalman*"));
  EXPECT_FALSE(check_accepted("forward"));
}

}  // namespace
}  // namespace culprit::scan
