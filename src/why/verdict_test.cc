// Verdicts on trees of 1,000 M cycles made by hand, with what was measured beside them.

#include "why/verdict.h"

#include <cmath>
#include <gtest/gtest.h>

#include "why/repairs.h"

namespace culprit {
namespace {

constexpr double kMillion = 1e6;

CostNode make_branch(CostBranch branch, const char* label, double cycles) {
  CostNode node;
  node.kind = NodeKind::branch;
  node.branch = branch;
  node.label = label;
  node.cycles = Estimate{cycles, 0};
  return node;
}

/// Load latency 500 M, misprediction 300 M, ports 900 M.
CostTree make_tree() {
  CostTree tree;
  tree.unhalted.kind = NodeKind::level;
  tree.unhalted.cycles = Estimate{1000 * kMillion, 0};
  CostNode stalled;
  stalled.kind = NodeKind::level;
  stalled.parts = {
      make_branch(CostBranch::load_latency, "load latency", 500 * kMillion),
      make_branch(CostBranch::branch_misprediction, "branch misprediction", 300 * kMillion)};
  CostNode unstalled;
  unstalled.kind = NodeKind::level;
  unstalled.parts = {make_branch(CostBranch::port_saturation, "port saturation", 900 * kMillion)};
  tree.unhalted.parts = {stalled, unstalled};
  return tree;
}

/// 1,000 samples of 1 M cycles, all of which the model explains.
MeasuredCycles make_measured() {
  MeasuredCycles measured;
  measured.measured = {1000 * kMillion, std::sqrt(1000) * kMillion};
  measured.samples = 1000;
  measured.modelled = {1000 * kMillion, 0};
  measured.fit = {.judged = 1000 * kMillion, .fitting = 1000 * kMillion};
  return measured;
}

class Verdicts : public ::testing::Test {
 protected:
  Verdicts() { cpu_.is_simulated = true; }
  Verdict find() const { return find_verdict(cpu_, {tree_, measured_, kernel_}); }

  Template cpu_;
  CostTree tree_ = make_tree();
  std::optional<MeasuredCycles> measured_ = make_measured();
  const KernelTime* kernel_ = nullptr;
};

TEST_F(Verdicts, AreFirmWhereTheModelFits) {
  const Verdict verdict = find();
  EXPECT_EQ(verdict.certainty, Certainty::firm);
  ASSERT_NE(verdict.branch, nullptr);
  EXPECT_EQ(verdict.branch->branch, CostBranch::load_latency);  // ports are busy in good programs
  EXPECT_EQ(verdict.reason, "");
}

// Load latency is made of an event that a broken rule names, misprediction is not.
TEST_F(Verdicts, OfEventsThatContradictEachOtherAreCandidates) {
  cpu_.is_simulated = false;
  measured_.reset();
  TemplateRow row;
  row.event = "MISSES";
  CostNode misses;
  misses.row = &row;
  std::vector<CostNode>& branches = tree_.unhalted.parts[0].parts;
  branches[0].parts.push_back(misses);
  ConsistencyRule rule;
  rule.name = "misses and lines";
  rule.left = {{"LINES"}};
  rule.right = {{"MISSES"}};
  const std::vector<RuleResult> broken{{&rule, {900, 0}, {261, 0}, 0.71, true}};
  VerdictInput input{tree_, measured_, kernel_};
  input.rules = &broken;
  const Verdict verdict = find_verdict(cpu_, input);
  EXPECT_EQ(verdict.certainty, Certainty::candidate);
  EXPECT_EQ(verdict.branch->branch, CostBranch::load_latency);
  EXPECT_NE(verdict.reason.find("misses and lines are 71 % apart"), std::string::npos);

  branches[1].cycles->value = 600 * kMillion;
  EXPECT_EQ(find_verdict(cpu_, input).certainty, Certainty::firm);
}

// Cycles were counted, and none of the events that a template asks for.
TEST_F(Verdicts, OfEventsThatWereNotRecordedAreNone) {
  cpu_.is_simulated = false;
  cpu_.name = "some-cpu";
  measured_.reset();
  for (CostNode& branch : tree_.unhalted.parts[0].parts) {
    branch.cycles.reset();
    branch.state = NodeState::not_recorded;
  }
  tree_.unhalted.parts[1].parts[0].cycles->value = 0;
  const Verdict verdict = find();
  EXPECT_EQ(verdict.certainty, Certainty::none);
  EXPECT_NE(verdict.reason.find("no event was recorded"), std::string::npos) << verdict.reason;
  tree_.unhalted.cycles.reset();
  EXPECT_EQ(find().reason, "no cycles were counted");
}

TEST_F(Verdicts, OfAModelAloneAreCandidates) {
  measured_.reset();
  EXPECT_EQ(find().certainty, Certainty::candidate);
  EXPECT_NE(find().reason.find("fit is not known"), std::string::npos);
}

TEST_F(Verdicts, NeedAHundredSamples) {
  measured_->samples = 99;
  EXPECT_EQ(find().certainty, Certainty::none);
  EXPECT_NE(find().reason.find("99 samples are too few"), std::string::npos);
  measured_->samples = 100;
  EXPECT_EQ(find().certainty, Certainty::firm);
}

TEST_F(Verdicts, AreNoneWhereMoreIsUnexplained) {
  measured_->fit.missing = 501 * kMillion;
  EXPECT_EQ(find().certainty, Certainty::none);
  EXPECT_NE(find().reason.find("50 % of the time is unexplained"), std::string::npos)
      << find().reason;
}

TEST_F(Verdicts, SayThatOthersMayHaveSlowedWhatIsUnexplained) {
  measured_->fit.missing = 501 * kMillion;
  const Verdict verdict = find_verdict(cpu_, {tree_, measured_, kernel_, {}, nullptr, true});
  EXPECT_NE(verdict.reason.find("than load latency has, though others kept the CPUs busy"),
            std::string::npos)
      << verdict.reason;
}

TEST_F(Verdicts, OfARunThatWasCutShortGoByHowMuchItHas) {
  const std::string cut = "a budget of 12.0 s";
  measured_->modelled.value = 4 * kMillion;  // of 1,000 M measured, 200 M of them in the kernel
  measured_->kernel.value = 200 * kMillion;
  VerdictInput input{tree_, measured_};
  input.cut = &cut;
  const Verdict none = find_verdict(cpu_, input);
  EXPECT_EQ(none.certainty, Certainty::none);
  EXPECT_EQ(none.branch, nullptr);
  EXPECT_NE(none.reason.find("ended by a budget of 12.0 s when it had 0.5 % of the cycles"),
            std::string::npos)
      << none.reason;
  EXPECT_NE(none.reason.find("the whole takes 200 times as long"), std::string::npos);
  measured_->modelled.value = 400 * kMillion;
  EXPECT_EQ(find_verdict(cpu_, input).certainty, Certainty::candidate);
  EXPECT_NE(find_verdict(cpu_, input).branch, nullptr);
  input.cut = nullptr;
  EXPECT_EQ(find_verdict(cpu_, input).certainty, Certainty::firm);
}

TEST_F(Verdicts, AreNoneWhereMoreIsInTheKernel) {
  measured_->kernel = {510 * kMillion, 0};
  EXPECT_EQ(find().certainty, Certainty::none);
  EXPECT_NE(find().reason.find("51 % of the time is in the kernel"), std::string::npos);
}

TEST_F(Verdicts, AreCandidatesWhereFunctionsDoNotFit) {
  measured_->fit.fitting = 660 * kMillion;  // below two thirds
  EXPECT_EQ(find().certainty, Certainty::candidate);
  EXPECT_NE(find().reason.find("functions of 34 % of the time"), std::string::npos)
      << find().reason;
}

// What fits in the sum of functions that have few samples each may fit in none of them.
TEST_F(Verdicts, AreCandidatesWhereMostFunctionsAreJudgedByTheirSum) {
  measured_->fit = {.judged = 600 * kMillion,
                    .fitting = 600 * kMillion,
                    .together = 400 * kMillion,
                    .together_fits = true};
  EXPECT_EQ(find().certainty, Certainty::candidate);
  EXPECT_NE(find().reason.find("functions of 40 % of the time have too few samples each"),
            std::string::npos)
      << find().reason;
  std::string basis = describe_basis({}, cpu_, tree_, measured_);
  EXPECT_NE(basis.find("in functions of 100 % of the time that could be judged function by "
                       "function (60 % of all); functions with 40 % of the time, of few samples "
                       "each, were judged by their sum alone, which is within 25 %; it lacks"),
            std::string::npos)
      << basis;
  measured_->fit = {.together = 1000 * kMillion};
  EXPECT_EQ(find().certainty, Certainty::candidate);
  basis = describe_basis({}, cpu_, tree_, measured_);
  EXPECT_NE(basis.find("no function has enough of them to judge the model by; functions with 100 % "
                       "of the time, of few samples each, were judged by their sum alone, which is "
                       "not within 25 %; it lacks"),
            std::string::npos)
      << basis;
}

// 500 M and 300 M: a difference of 200 M between model and measurement may turn them round.
TEST_F(Verdicts, AreCandidatesWhereAnotherMayBeLarger) {
  measured_->fit.missing = 120 * kMillion;
  measured_->fit.excess = 81 * kMillion;
  EXPECT_EQ(find().certainty, Certainty::candidate);
  EXPECT_NE(find().reason.find("may as well be branch misprediction"), std::string::npos);
  measured_->fit.excess = 79 * kMillion;
  EXPECT_EQ(find().certainty, Certainty::firm);
}

// Windows: the 200 M between them are 1.96 standard errors if each has 72.2 M, by Pythagoras.
TEST_F(Verdicts, ObeyTheErrorsOfWindows) {
  const auto find_with = [&](double error) {
    for (CostNode& branch : tree_.unhalted.parts.front().parts) {
      branch.cycles->standard_error = error;
    }
    return find();
  };
  EXPECT_EQ(find_with(72 * kMillion).certainty, Certainty::firm);
  EXPECT_EQ(find_with(72.4 * kMillion).certainty, Certainty::candidate);
  EXPECT_NE(find().reason.find("errors of the windows, it may as well be branch mis"),
            std::string::npos)
      << find().reason;
}

TEST_F(Verdicts, AreCandidatesWhereTheForecastMaySaveNothing) {
  const CostNode* const latency = tree_.find(CostBranch::load_latency);
  const auto find_with = [&](double low) {
    return find_verdict(cpu_, {tree_, measured_, kernel_, BranchGain{latency, {0.3, low, 0.5}}});
  };
  EXPECT_EQ(find_with(0.02).certainty, Certainty::firm);
  EXPECT_EQ(find_with(0.01).certainty, Certainty::candidate);
  EXPECT_EQ(find_with(0.01).branch, latency);
  EXPECT_NE(find_with(0.01).reason.find("saves 30 % (1 to 50 %)"), std::string::npos);
}

// Load latency has most cycles. What is forecast without it decides whether it is named.
class BranchesByGain : public ::testing::Test {
 protected:
  const CostNode* find(double load_latency, double misprediction) const {
    const auto chosen =
        find_branch_by_gain({make_advice(CostBranch::load_latency, load_latency),
                             make_advice(CostBranch::branch_misprediction, misprediction)},
                            tree_);
    return chosen ? chosen->branch : nullptr;
  }
  static PlacedAdvice make_advice(CostBranch branch, double expected) {
    PlacedAdvice one;
    one.branch = branch;
    one.gain = GainForecast{expected, 0, 2 * expected};
    return one;
  }
  const CostNode* of(CostBranch branch) const { return tree_.find(branch); }
  CostTree tree_ = make_tree();
};

TEST_F(BranchesByGain, AreThoseThatSaveMostOfATenth) {
  EXPECT_EQ(find(0.3, 0.1), of(CostBranch::load_latency));
  EXPECT_EQ(find(0.08, 0.1), of(CostBranch::branch_misprediction));
}

// 600 M cycles of load latency beside 300 M: twice as many. Ports have more, and are no wait.
TEST_F(BranchesByGain, AreTheLargerOfTwoThatHideEachOther) {
  tree_.unhalted.parts[0].parts[0].cycles->value = 600 * kMillion;
  EXPECT_EQ(find(0.41, 0.5), of(CostBranch::load_latency));
  EXPECT_EQ(find(0.39, 0.5), of(CostBranch::branch_misprediction));
  tree_.unhalted.parts[0].parts[0].cycles->value = 599 * kMillion;
  EXPECT_EQ(find(0.41, 0.5), of(CostBranch::branch_misprediction));
  const auto chosen = find_branch_by_gain({make_advice(CostBranch::port_saturation, 0.45),
                                           make_advice(CostBranch::branch_misprediction, 0.5)},
                                          tree_);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->branch, of(CostBranch::branch_misprediction));
}

TEST_F(BranchesByGain, AreTheLargestWhereGainsAreSmall) {
  EXPECT_EQ(find(0.03, 0.09), of(CostBranch::load_latency));
  EXPECT_EQ(find(0.01, 0.01), of(CostBranch::load_latency));
  // Not the misprediction either, though it has three times the cycles of the division.
  tree_.unhalted.parts[0].parts.push_back(
      make_branch(CostBranch::instruction_latency, "instruction latency", 100 * kMillion));
  const auto chosen = find_branch_by_gain({make_advice(CostBranch::load_latency, 0.03),
                                           make_advice(CostBranch::branch_misprediction, 0.07),
                                           make_advice(CostBranch::instruction_latency, 0.08)},
                                          tree_);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->branch, of(CostBranch::load_latency));
}

TEST_F(BranchesByGain, AreWhatALargestThatSavesNothingHidesBehind) {
  EXPECT_EQ(find(0.01, 0.04), of(CostBranch::branch_misprediction));
}

TEST_F(BranchesByGain, AddUpWhatPlacesSave) {
  const auto chosen = find_branch_by_gain(
      {make_advice(CostBranch::load_latency, 0.2), make_advice(CostBranch::load_latency, 0.4)},
      tree_);
  ASSERT_TRUE(chosen);
  EXPECT_DOUBLE_EQ(chosen->gain.expected, 0.2 + 0.4);
  EXPECT_DOUBLE_EQ(chosen->gain.high, 1);  // 1.2
  EXPECT_FALSE(find_branch_by_gain({PlacedAdvice()}, tree_));
}

// Of 50 and 40 % who saves more cannot be told; of 50 and 39 % it can.
TEST_F(BranchesByGain, AdviseOnTheVerdictFirst) {
  const auto first_of = [&](double of_verdict, const CostNode* named) {
    std::vector<PlacedAdvice> advice{make_advice(CostBranch::branch_misprediction, 0.1),
                                     make_advice(CostBranch::load_latency, of_verdict),
                                     make_advice(CostBranch::branch_misprediction, 0.5)};
    sort_advice(named, advice);
    EXPECT_EQ(advice.back().worth(), 0.1);
    return advice.front().branch;
  };
  EXPECT_EQ(first_of(0.41, of(CostBranch::load_latency)), CostBranch::load_latency);
  EXPECT_EQ(first_of(0.39, of(CostBranch::load_latency)), CostBranch::branch_misprediction);
  EXPECT_EQ(first_of(0.41, nullptr), CostBranch::branch_misprediction);
}

// 0.9 % at the upper end is nothing, 2.2 % is not, and a verdict keeps its advice.
TEST_F(BranchesByGain, AreNotAdvisedOnWhereTheySaveNothing) {
  const auto left = [&](const CostNode* named) {
    std::vector<PlacedAdvice> repairs{make_advice(CostBranch::load_latency, 0.0045),
                                      make_advice(CostBranch::branch_misprediction, 0.011)};
    forget_what_saves_nothing(named, repairs);
    return repairs.size();
  };
  EXPECT_EQ(left(nullptr), 1u);
  EXPECT_EQ(left(of(CostBranch::branch_misprediction)), 1u);
  EXPECT_EQ(left(of(CostBranch::load_latency)), 2u);
}

TEST_F(Verdicts, OfHardwareNeedSamplesAndExplainedStalls) {
  cpu_.is_simulated = false;
  measured_.reset();
  EXPECT_EQ(find().certainty, Certainty::firm);            // counted
  tree_.unhalted.cycles->standard_error = 110 * kMillion;  // of 83 samples
  EXPECT_EQ(find().certainty, Certainty::none);
  tree_.unhalted.cycles->standard_error = 90 * kMillion;  // of 123
  EXPECT_EQ(find().certainty, Certainty::firm);
  tree_.unexplained = Estimate{501 * kMillion, 0};
  EXPECT_EQ(find().certainty, Certainty::none);
}

LibraryPart make_library(double share) {
  LibraryPart part;
  part.kind = find_library_kind("strcoll");
  part.share = {share, 0.01};
  part.all_samples = 1000;
  return part;
}

// Load latency has 50 % of the time.
TEST_F(Verdicts, AreOfALibrarysWorkThatHasMore) {
  LibraryPart part = make_library(0.51);
  const auto find_with = [&] {
    return find_verdict(cpu_, {tree_, measured_, kernel_, {}, nullptr, false, &part});
  };
  measured_->fit.missing = 600 * kMillion;  // which does not matter: the time is measured
  EXPECT_EQ(find_with().certainty, Certainty::firm);
  EXPECT_EQ(find_with().library, &part);
  EXPECT_EQ(find_with().branch, nullptr);
  part.share.value = 0.49;
  EXPECT_EQ(find_with().library, nullptr);
  part = make_library(0.51);
  part.all_samples = 99;
  EXPECT_EQ(find_with().certainty, Certainty::none);
}

// Ports have 90 % of the cycles; of the time 60 % are missing, 30 of them perhaps the library's
// own.
TEST_F(Verdicts, OfALibraryAreCandidatesWhereMoreIsUnknown) {
  LibraryPart part = make_library(0.29);
  tree_.unhalted.parts.erase(tree_.unhalted.parts.begin());
  VerdictInput input{tree_, measured_};
  input.library = &part;
  measured_->fit.missing = 600 * kMillion;
  const Verdict verdict = find_verdict(cpu_, input);
  EXPECT_EQ(verdict.library, &part);
  EXPECT_EQ(verdict.certainty, Certainty::candidate);
  EXPECT_NE(verdict.reason.find("it has 29 % of the time; what takes 31 % in user code"),
            std::string::npos)
      << verdict.reason;
  part.share.value = 0.31;
  EXPECT_EQ(find_verdict(cpu_, input).certainty, Certainty::firm);
  measured_.reset();  // time alone
  tree_.unhalted.parts.clear();
  EXPECT_EQ(find_verdict(cpu_, input).certainty, Certainty::candidate);
  part.share.value = 0.51;
  EXPECT_EQ(find_verdict(cpu_, input).certainty, Certainty::firm);
}

/// The kernel has `share` of 1,000 samples, all of it for reads and writes of files.
KernelTime make_kernel(double share) {
  KernelTime kernel;
  kernel.samples = 1000;
  kernel.has_stacks = true;
  kernel.share = {share, 0.01};
  KernelPart part;
  part.kind = &kernel_kind("files");
  part.share = kernel.share;
  kernel.parts = {part};
  return kernel;
}

TEST_F(Verdicts, AreOfALibrarysWorkThatHasMoreThanTheKernels) {
  const LibraryPart part = make_library(0.6);
  KernelTime kernel = make_kernel(0.61);
  const auto find_with = [&] {
    return find_verdict(cpu_, {tree_, measured_, &kernel, {}, nullptr, false, &part});
  };
  EXPECT_EQ(find_with().library, nullptr);
  EXPECT_EQ(find_with().kernel, &kernel.parts.front());
  kernel = make_kernel(0.39);
  EXPECT_EQ(find_with().library, &part);
}

TEST_F(Verdicts, OfTheKernelCountWhatIsAroundItsCallsAsKnown) {
  KernelTime kernel = make_kernel(0.51);
  kernel_ = &kernel;
  measured_->fit.missing = 600 * kMillion;
  EXPECT_EQ(find().certainty, Certainty::candidate);
  kernel.parts.front().around = {0.1, 0};
  EXPECT_EQ(find().certainty, Certainty::firm);
}

TEST_F(Verdicts, TheKernelsWorkIsOneWhereItIsLargerThanAnyBranch) {
  KernelTime kernel = make_kernel(0.51);
  kernel_ = &kernel;
  EXPECT_EQ(find().certainty, Certainty::firm);
  EXPECT_EQ(find().kernel, &kernel.parts[0]);
  EXPECT_EQ(find().branch, nullptr);
  kernel.parts[0].share.value = 0.49;  // load latency has half of the cycles
  EXPECT_EQ(find().kernel, nullptr);
  EXPECT_EQ(find().branch->branch, CostBranch::load_latency);
  kernel.parts[0].share.value = 0.51;
  kernel.has_stacks = false;
  EXPECT_EQ(find().certainty, Certainty::candidate);
}

TEST_F(Verdicts, WhatNobodyCanHelpIsNone) {
  KernelTime kernel = make_kernel(0.51);
  kernel.parts[0].kind = &kernel_kind("interrupts");
  kernel_ = &kernel;
  EXPECT_EQ(find().kernel, nullptr);
}

TEST_F(Verdicts, TheKernelsWorkIsACandidateWhereMoreIsUnknown) {
  KernelTime kernel = make_kernel(0.51);
  kernel_ = &kernel;
  measured_->fit.missing = 520 * kMillion;
  EXPECT_EQ(find().certainty, Certainty::candidate);
  EXPECT_EQ(find().kernel, &kernel.parts[0]);
}

TEST_F(Verdicts, OfTimeAloneNameTheKernelsWork) {
  cpu_.is_simulated = false;
  measured_.reset();
  tree_.unhalted.parts.clear();
  EXPECT_EQ(find().certainty, Certainty::none);
  KernelTime kernel = make_kernel(0.6);
  kernel_ = &kernel;
  EXPECT_EQ(find().certainty, Certainty::firm);
  kernel.share.value = kernel.parts[0].share.value = 0.4;
  EXPECT_EQ(find().certainty, Certainty::candidate);
  EXPECT_NE(find().reason.find("what takes 60 % in user code is not known"), std::string::npos)
      << find().reason;
  kernel.share.value = kernel.parts[0].share.value = 0.09;
  EXPECT_EQ(find().certainty, Certainty::none);
  kernel.samples = 99;
  kernel.share.value = kernel.parts[0].share.value = 0.6;
  EXPECT_EQ(find().certainty, Certainty::none);
}

TEST_F(Verdicts, OfNothingLargeNameNoBranch) {
  for (CostNode& level : tree_.unhalted.parts) {
    for (CostNode& branch : level.parts) branch.cycles->value = 99 * kMillion;
  }
  EXPECT_EQ(find().certainty, Certainty::none);
  EXPECT_EQ(find().branch, nullptr);
  // The largest is named all the same: a table that shows it must not be contradicted.
  EXPECT_NE(find().reason.find("load latency has most, 9.9 %"), std::string::npos) << find().reason;
  tree_.unhalted.parts[1].parts[0].cycles->value = 309 * kMillion;
  EXPECT_NE(find().reason.find("keep ports busy for 30.9 % of the cycles"), std::string::npos)
      << find().reason;
}

}  // namespace
}  // namespace culprit
