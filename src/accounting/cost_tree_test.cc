#include "accounting/cost_tree.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <tuple>
#include <utility>

#include "accounting/advice.h"
#include "accounting/consistency.h"
#include "accounting/formulas.h"
#include "accounting/test_template.h"
#include "accounting/wordless_cost_tree.h"
#include "base/test_folders.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

double cycles_of(const CostTree& tree, CostBranch branch) {
  const CostNode* node = tree.find(branch);
  return node != nullptr && node->cycles ? node->cycles->value : -1;
}

const CostNode* find_part(const CostNode& node, const std::string& label) {
  for (const CostNode& part : node.parts) {
    if (part.label == label) return &part;
  }
  return nullptr;
}

/// Whether both have the same numbers and states in the same places.
bool is_alike(const CostNode& a, const CostNode& b) {
  const auto numbers = [](const CostNode& node) {
    const auto pair_of = [](const std::optional<Estimate>& one) {
      return one ? std::pair(one->value, one->standard_error) : std::pair(-1.0, -1.0);
    };
    return std::tuple(node.kind, node.branch, node.state, node.provenance, node.in_sum,
                      node.is_linear, pair_of(node.cycles), pair_of(node.uncapped),
                      pair_of(node.ratio), node.row, node.formula);
  };
  return numbers(a) == numbers(b) && std::ranges::equal(a.parts, b.parts, is_alike);
}

class CostTrees : public ::testing::Test {
 protected:
  const Template cpu_ = made_template();
};

TEST_F(CostTrees, SumEventsTimesPenaltiesFromTheBottom) {
  const CostTree tree = make_cost_tree(cpu_, made_amounts(cpu_, {{"CYCLES", 10000},
                                                                 {"STALLS", 6000},
                                                                 {"LOCAL_DRAM", 10},  // x 200
                                                                 {"REMOTE_DRAM", 2},  // x 400
                                                                 {"WALKS", 30},       // x 7
                                                                 {"WALK_CYCLES", 900},
                                                                 {"L1_HIT", 5000}}));
  EXPECT_EQ(cycles_of(tree, CostBranch::unhalted), 10000);
  EXPECT_EQ(cycles_of(tree, CostBranch::stalled), 6000);
  EXPECT_EQ(cycles_of(tree, CostBranch::unstalled), 4000);
  const CostNode& loads = *tree.find(CostBranch::load_latency);
  EXPECT_EQ(loads.cycles->value, 2000 + 800 + 210 + 900);
  EXPECT_EQ(loads.state, NodeState::measured);
  EXPECT_EQ(loads.provenance, Provenance::modelled);
  const CostNode& dtlb = *find_part(loads, "DTLB");
  EXPECT_EQ(dtlb.cycles->value, 1110);
  // Events whose penalty is one cycle are cycles that were counted.
  EXPECT_EQ(find_part(dtlb, "WALK_CYCLES")->provenance, Provenance::counted);
  EXPECT_EQ(find_part(loads, "L1_HIT")->amount->events.value, 5000);
  EXPECT_FALSE(find_part(loads, "L1_HIT")->cycles);
}

TEST_F(CostTrees, WhatWasNotMeasuredIsNotNought) {
  const CostTree tree = make_cost_tree(
      cpu_, made_amounts(cpu_, {{"CYCLES", 10000}, {"LOCAL_DRAM", 10}, {"MISPREDICTED", 5}}));
  const CostNode& loads = *tree.find(CostBranch::load_latency);
  EXPECT_EQ(loads.cycles->value, 2000);
  EXPECT_EQ(loads.state, NodeState::partly_measured);
  EXPECT_NE(loads.reason.find("REMOTE_DRAM"), std::string::npos);
  const CostNode& starvation = *tree.find(CostBranch::instruction_starvation);
  EXPECT_EQ(starvation.state, NodeState::not_covered);
  EXPECT_EQ(starvation.reason, "no event for it");
  EXPECT_FALSE(starvation.cycles);
  const CostNode& calls = *tree.find(CostBranch::function_call_overhead);
  EXPECT_EQ(calls.state, NodeState::not_recorded);
  EXPECT_FALSE(calls.cycles);
  EXPECT_FALSE(tree.find(CostBranch::stalled)->cycles);
  EXPECT_FALSE(tree.find(CostBranch::unstalled)->cycles);
  EXPECT_FALSE(tree.overlap);
}

TEST_F(CostTrees, LevelsAreAsSureAsWhatTellsThem) {
  Template cpu = cpu_;
  cpu.rows.push_back(made_row("ACTIVE", CostBranch::unstalled, Role::info, 1));
  RowAmounts amounts = made_amounts(cpu, {{"CYCLES", 10000}, {"ACTIVE", 4000}});
  for (auto& amount : amounts) {
    if (amount) amount->provenance = Provenance::sampled;
  }
  const CostTree tree = make_cost_tree(cpu, amounts);
  EXPECT_EQ(cycles_of(tree, CostBranch::unstalled), 4000);
  EXPECT_EQ(tree.find(CostBranch::unstalled)->provenance, Provenance::sampled);
  EXPECT_EQ(cycles_of(tree, CostBranch::stalled), 6000);
  EXPECT_EQ(tree.find(CostBranch::stalled)->provenance, Provenance::sampled);
  // No such event was recorded, and this CPU has some.
  const CostTree none = make_cost_tree(cpu, made_amounts(cpu, {{"CYCLES", 10000}}));
  EXPECT_EQ(none.find(CostBranch::stalled)->state, NodeState::not_recorded);
  EXPECT_EQ(none.find(CostBranch::unstalled)->state, NodeState::not_recorded);
}

/// Every shipped template is tried with nothing counted, with everything, and with each row alone.
TEST(ShippedTemplates, MakeTreesOfWhateverWasCounted) {
  const std::string folder = source_folder() + "/data/templates";
  const std::vector<std::string> names = list_templates(folder);
  EXPECT_GE(names.size(), 17u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Result<Template> cpu = read_template(template_path(folder, name));
    ASSERT_TRUE(cpu) << cpu.error().message;
    RowAmounts none(cpu->rows.size());
    const CostTree empty = make_cost_tree(*cpu, none);
    RowAmounts all(cpu->rows.size(), RowAmount{{1000, 10}, Provenance::counted});
    const CostTree full = make_cost_tree(*cpu, all, {2e9, true});
    EXPECT_TRUE(full.unhalted.cycles);
    for (const auto& [branch, key, words] : kBranchNames) {
      if (!is_level3(branch)) continue;
      EXPECT_FALSE(empty.find(branch)->cycles) << key;
      EXPECT_FALSE(empty.find(branch)->reason.empty()) << key;
      const bool is_covered = cpu->coverage[static_cast<size_t>(branch)].coverage != Coverage::none;
      EXPECT_TRUE(is_covered || !full.find(branch)->cycles) << key;
    }
    EXPECT_TRUE(is_alike(make_wordless_cost_tree(*cpu, none, {}).unhalted, empty.unhalted));
    EXPECT_TRUE(is_alike(make_wordless_cost_tree(*cpu, all, {2e9, true}).unhalted, full.unhalted));
    for (size_t row = 0; row < cpu->rows.size(); ++row) {
      RowAmounts one = none;
      one[row] = RowAmount{{1000, 10}, Provenance::sampled};
      const CostTree tree = make_cost_tree(*cpu, one);
      EXPECT_EQ(tree.unhalted.kind, NodeKind::level);
      EXPECT_TRUE(is_alike(make_wordless_cost_tree(*cpu, one, {}).unhalted, tree.unhalted));
    }
  }
}

TEST_F(CostTrees, SayHowFarBranchesOverlapOrLeaveOpen) {
  const CostTree over = make_cost_tree(
      cpu_, made_amounts(cpu_, {{"CYCLES", 10000}, {"STALLS", 1500}, {"LOCAL_DRAM", 10}}));
  EXPECT_EQ(over.overlap->value, 500);
  EXPECT_EQ(over.unexplained->value, 0);
  const CostTree under = make_cost_tree(
      cpu_, made_amounts(cpu_, {{"CYCLES", 10000}, {"STALLS", 2600}, {"LOCAL_DRAM", 10}}));
  EXPECT_EQ(under.overlap->value, 0);
  EXPECT_EQ(under.unexplained->value, 600);
}

TEST_F(CostTrees, FunctionsOfEventsAreWorkedOutAtTheNode) {
  const CostTree tree =
      make_cost_tree(cpu_, made_amounts(cpu_, {{"CYCLES", 10000},
                                               {"MISPREDICTED", 10},
                                               {"ISSUED", 9000},
                                               {"RETIRED", 8000},
                                               {"PORT_0", 3000},
                                               {"PORT_1", 4500},
                                               {"PORT_23", 9500},  // of two ports: 4750 each
                                               {"CALLS", 100}}));
  EXPECT_EQ(cycles_of(tree, CostBranch::branch_misprediction), 60 + 1000 / 4.0);
  EXPECT_FALSE(tree.find(CostBranch::branch_misprediction)->is_linear);
  EXPECT_EQ(cycles_of(tree, CostBranch::port_saturation), 4750);
  EXPECT_EQ(cycles_of(tree, CostBranch::function_call_overhead), 300);
  EXPECT_TRUE(tree.find(CostBranch::function_call_overhead)->is_linear);
}

/// Any of the ports may be missing: the busiest of the others is the least.
TEST_F(CostTrees, MissingOperandsDoNotMoveTheOthers) {
  const CostTree tree =
      make_cost_tree(cpu_, made_amounts(cpu_, {{"CYCLES", 10000}, {"PORT_23", 9500}}));
  const CostNode& ports = *tree.find(CostBranch::port_saturation);
  EXPECT_EQ(ports.cycles->value, 4750);
  EXPECT_EQ(ports.state, NodeState::partly_measured);
  EXPECT_EQ(ports.reason, "not recorded: PORT_0, PORT_1");
  // The wrong path needs both of its events.
  const CostTree issued = make_cost_tree(
      cpu_, made_amounts(cpu_, {{"CYCLES", 10000}, {"MISPREDICTED", 1}, {"ISSUED", 9000}}));
  const CostNode& branch = *issued.find(CostBranch::branch_misprediction);
  EXPECT_EQ(branch.cycles->value, 6);
  EXPECT_EQ(branch.state, NodeState::partly_measured);
  EXPECT_EQ(branch.reason, "not recorded: RETIRED");
}

TEST_F(CostTrees, TheIssueRateIsMeasuredWhereItCanBe) {
  Template cpu = cpu_;
  cpu.rows.push_back(
      made_row("ISSUE_CYCLES", CostBranch::branch_misprediction, Role::derive, std::nullopt));
  cpu.formulas[0].operands.push_back("ISSUE_CYCLES");
  const CostTree tree =
      make_cost_tree(cpu, made_amounts(cpu, {{"CYCLES", 10000},
                                             {"MISPREDICTED", 0},
                                             {"ISSUED", 9000},
                                             {"RETIRED", 8000},
                                             {"ISSUE_CYCLES", 4500}}));  // 2 at a time
  EXPECT_EQ(cycles_of(tree, CostBranch::branch_misprediction), 500);
}

TEST_F(CostTrees, BoundsCapWhatWasCountedTwice) {
  Template cpu = cpu_;
  cpu.rows.push_back(made_row("STALLS_ON_LOADS", CostBranch::load_latency, Role::bound, 1));
  const CostTree tree = make_cost_tree(cpu, made_amounts(cpu, {{"CYCLES", 10000},
                                                               {"LOCAL_DRAM", 10},
                                                               {"REMOTE_DRAM", 0},
                                                               {"WALKS", 0},
                                                               {"WALK_CYCLES", 0},
                                                               {"STALLS_ON_LOADS", 1200}}));
  const CostNode& loads = *tree.find(CostBranch::load_latency);
  EXPECT_EQ(loads.cycles->value, 1200);
  EXPECT_EQ(loads.uncapped->value, 2000);
  EXPECT_FALSE(loads.is_linear);
}

TEST_F(CostTrees, PenaltiesInTimeNeedTheClock) {
  Template cpu = cpu_;
  cpu.rows[2].penalty = {PenaltyUnit::ns, 80, "this test", false};
  const RowAmounts amounts = made_amounts(cpu, {{"CYCLES", 10000}, {"LOCAL_DRAM", 10}});
  const CostTree without = make_cost_tree(cpu, amounts);
  EXPECT_FALSE(without.find(CostBranch::load_latency)->cycles);
  CostOptions options;
  options.hertz = 2.5e9;
  EXPECT_EQ(cycles_of(make_cost_tree(cpu, amounts, options), CostBranch::load_latency), 10 * 200);
}

TEST_F(CostTrees, ErrorsAddInSquares) {
  // 3 events of +-1 at 200 and 400 cycles: sqrt(200^2 + 400^2).
  const CostTree tree = make_cost_tree(
      cpu_, made_amounts(cpu_, {{"CYCLES", 10000}, {"LOCAL_DRAM", 3}, {"REMOTE_DRAM", 3}}, 1));
  EXPECT_NEAR(tree.find(CostBranch::load_latency)->cycles->standard_error, 447.21, 0.01);
}

/// Events and linear branches are additive over any split of a program; the others equal their
/// definition on the sums.
TEST_F(CostTrees, AddUpOverPartsOfAProgram) {
  std::mt19937_64 random(20261121);
  std::vector<std::string> events;
  for (const TemplateRow& row : cpu_.rows) events.push_back(row.event);
  for (int round = 0; round < 200; ++round) {
    const size_t parts = 1 + random() % 20;
    std::vector<std::pair<std::string, double>> total;
    for (const std::string& event : events) total.emplace_back(event, 0);
    std::map<CostBranch, double> sums;
    for (size_t part = 0; part < parts; ++part) {
      std::vector<std::pair<std::string, double>> counts;
      for (size_t i = 0; i < events.size(); ++i) {
        const auto count = static_cast<double>(random() % 100000);
        counts.emplace_back(events[i], count);
        total[i].second += count;
      }
      const CostTree tree = make_cost_tree(cpu_, made_amounts(cpu_, counts));
      for (const CostBranch branch :
           {CostBranch::unhalted, CostBranch::load_latency, CostBranch::function_call_overhead}) {
        sums[branch] += cycles_of(tree, branch);
      }
    }
    std::shuffle(total.begin(), total.end(), random);
    const CostTree whole = make_cost_tree(cpu_, made_amounts(cpu_, total));
    for (const auto& [branch, sum] : sums) {
      EXPECT_TRUE(whole.find(branch)->is_linear);
      EXPECT_NEAR(cycles_of(whole, branch), sum, 1e-9 * sum);
    }
    const std::map<std::string, double> by_name(total.begin(), total.end());
    EXPECT_EQ(cycles_of(whole, CostBranch::port_saturation),
              std::max({by_name.at("PORT_0"), by_name.at("PORT_1"), by_name.at("PORT_23") / 2}));
    EXPECT_NEAR(cycles_of(whole, CostBranch::branch_misprediction),
                6 * by_name.at("MISPREDICTED") +
                    std::max(0.0, by_name.at("ISSUED") - by_name.at("RETIRED")) / 4,
                1e-6);
  }
}

TEST_F(CostTrees, AdviceIsForWhatCosts) {
  const CostTree tree = make_cost_tree(cpu_, made_amounts(cpu_, {{"CYCLES", 10000},
                                                                 {"LOCAL_DRAM", 20},   // 40 %
                                                                 {"REMOTE_DRAM", 15},  // 60 %
                                                                 {"WALKS", 10},        // 0.7 %
                                                                 {"WALK_CYCLES", 0},
                                                                 {"PORT_0", 5900},
                                                                 {"PORT_1", 0},
                                                                 {"PORT_23", 0}}));
  const std::vector<Advice> advice = find_advice(tree);
  ASSERT_EQ(advice.size(), 2u);
  EXPECT_EQ(advice[0].node->label, "REMOTE_DRAM");
  EXPECT_EQ(advice[0].share, 0.6);
  EXPECT_EQ(advice[1].node->label, "LOCAL_DRAM");
}

/// Misprediction has less than DRAM's two rows together, and more than each of them.
TEST_F(CostTrees, AdviceGoesBranchByBranch) {
  CostTree tree = make_cost_tree(cpu_, made_amounts(cpu_, {{"CYCLES", 10000},
                                                           {"LOCAL_DRAM", 10},  // 20 %
                                                           {"REMOTE_DRAM", 6},  // 24 %
                                                           {"WALKS", 0},
                                                           {"WALK_CYCLES", 0}}));
  CostNode& other = tree.unhalted.parts.back().parts.back();
  CostNode leaf;
  leaf.row = find_advice(tree).front().node->row;  // any with advice
  leaf.label = "other";
  leaf.cycles = other.cycles = Estimate{3000, 0};
  other.parts = {leaf};
  const std::vector<Advice> advice = find_advice(tree);
  ASSERT_EQ(advice.size(), 3u);
  EXPECT_EQ(advice[0].node->label, "REMOTE_DRAM");
  EXPECT_EQ(advice[1].node->label, "LOCAL_DRAM");
  EXPECT_EQ(advice[2].node->label, "other");
  EXPECT_EQ(advice[0].branch, find_largest_branch(tree));
  EXPECT_EQ(advice[2].branch, &other);
}

TEST_F(CostTrees, ABusyPortIsAdviceFromSixtyPercentOn) {
  const CostTree tree = make_cost_tree(
      cpu_,
      made_amounts(cpu_, {{"CYCLES", 10000}, {"PORT_0", 6000}, {"PORT_1", 1}, {"PORT_23", 1}}));
  const std::vector<Advice> advice = find_advice(tree);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].node->label, "busiest port");
}

TEST(Formulas, AreWhatTheySay) {
  EXPECT_EQ(wrong_path_cycles(1200, 1000, 2), 100);
  EXPECT_EQ(wrong_path_cycles(1000, 1200, 2), 0);  // fused at retirement
  EXPECT_EQ(wrong_path_cycles(1200, 1000, 0), 0);
  EXPECT_EQ(busiest_port_cycles(std::vector<double>{1, 7, 3}), 7);  // not the last, not the sum
  EXPECT_EQ(call_overhead_cycles(10, 3), 30);
  // Both awake for 600 of 1000 cycles, each active in half of them.
  EXPECT_EQ(thread_collision_cycles(1000, 500, 0.4), 600 * 0.25 / 2);
  EXPECT_EQ(thread_collision_cycles(1000, 500, 1), 0);
  EXPECT_EQ(positive_sum(std::vector<double>{10, -8}), 2);
  EXPECT_EQ(positive_sum(std::vector<double>{10, -12}), 0);
}

TEST(Formulas, ErrorsFollowTheFunction) {
  const std::vector<Estimate> operands = {{100, 3}, {50, 4}};
  const Estimate sum = propagate([](std::span<const double> v) { return v[0] + v[1]; }, operands);
  EXPECT_EQ(sum.value, 150);
  EXPECT_NEAR(sum.standard_error, 5, 1e-9);  // 3-4-5
  const Estimate larger =
      propagate([](std::span<const double> v) { return std::max(v[0], v[1]); }, operands);
  EXPECT_NEAR(larger.standard_error, 3, 1e-9);
}

/// Counts leaked to the sibling thread (erratum BT243; the paper's table 6).
TEST_F(CostTrees, RulesFindCountersThatDisagree) {
  Template cpu = cpu_;
  cpu.rules.push_back({"memory loads two ways",
                       {{"LOCAL_DRAM", 1}},
                       {{"REMOTE_DRAM", 1}},
                       0.1,
                       "counts leak to the other thread of the core",
                       0});
  const auto check = [&](double left, double right) {
    return check_rules(cpu, made_amounts(cpu, {{"LOCAL_DRAM", left}, {"REMOTE_DRAM", right}}));
  };
  ASSERT_EQ(check(33.8e6, 33.5e6).size(), 1u);
  EXPECT_FALSE(check(33.8e6, 33.5e6)[0].is_broken);
  EXPECT_TRUE(check(5.1e6, 33.5e6)[0].is_broken);
  EXPECT_NEAR(check(5.1e6, 33.5e6)[0].difference, 0.848, 0.001);
  // One side was not measured: nothing can be said.
  EXPECT_TRUE(check_rules(cpu, made_amounts(cpu, {{"LOCAL_DRAM", 5}})).empty());
}

}  // namespace
}  // namespace culprit
