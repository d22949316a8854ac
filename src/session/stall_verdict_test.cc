#include "session/stall_verdict.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

class StallVerdict : public testing::Test {
 protected:
  StallVerdict() {
    branch_.branch = CostBranch::load_latency;
    branch_.label = "load latency";
    why_.verdict.certainty = Certainty::firm;
    why_.verdict.branch = &branch_;
    stalls_.cycles = 1000;
    bound(StallCause::load_memory) = 800;
    bound(StallCause::port) = 300;
  }
  double& bound(StallCause cause) { return stalls_.tallied.high[static_cast<size_t>(cause)]; }
  [[nodiscard]] std::string told() const { return compare_with_verdict(why_, stalls_); }

  CostNode branch_;
  WhyReport why_;
  StallSummary stalls_;
};

TEST_F(StallVerdict, AgreesWhereACauseOfTheBranchHasMost) {
  EXPECT_EQ(told(),
            "culprit why names load latency (firm). Its causes here (d2 d3 dm dx t l) are not "
            "behind any other: up to 80.0 %.");
}

TEST_F(StallVerdict, SaysWhyTheyDiffer) {
  branch_.branch = CostBranch::port_saturation;
  branch_.label = "port saturation";
  why_.verdict.certainty = Certainty::candidate;
  EXPECT_EQ(told().substr(0, told().find(". The verdict")),
            "culprit why names port saturation (candidate). Here data from memory can have had "
            "more: up to 80.0 %, and its causes (p) up to 30.0 %");
  EXPECT_NE(told().find("measured"), std::string::npos);
}

TEST_F(StallVerdict, OfNoVerdictThereIsTheReason) {
  why_.verdict = {};
  why_.verdict.reason = "8 samples are too few";
  EXPECT_EQ(told(), "culprit why names no culprit: 8 samples are too few.");
}

TEST_F(StallVerdict, WhatIsUnexplainedHasItsLikeliestCause) {
  why_.verdict = {};
  EXPECT_FALSE(lacks_explanation(why_));
  why_.measured.emplace();
  why_.measured->measured.value = 1000;
  why_.measured->unexplained.value = 251;
  EXPECT_TRUE(lacks_explanation(why_));
  why_.measured->unexplained.value = 249;
  EXPECT_FALSE(lacks_explanation(why_));

  stalls_.tallied.cycles = 900;
  stalls_.tallied.low[static_cast<size_t>(StallCause::load_memory)] = 120;
  stalls_.places.push_back({"chase(long)", "a.out", {}, {}, {}});
  stalls_.places[0].stalls.cycles = 700;
  EXPECT_EQ(describe_unexplained(stalls_),
            "its instructions tell more of what is unexplained: data from memory can have had 12 "
            "to 80 % of the time, the most of all causes, and 70 % of it passed in chase(long). "
            "culprit why --stalls has them, annotate the instructions");
  bound(StallCause::load_memory) = bound(StallCause::port) = 150;
  EXPECT_EQ(describe_unexplained(stalls_), "");
}

TEST_F(StallVerdict, TheKernelHasARowOfItsOwn) {
  const KernelPart part;
  why_.verdict.kernel = &part;
  EXPECT_NE(told().find("the row 'kernel'"), std::string::npos);
}

}  // namespace
}  // namespace culprit
