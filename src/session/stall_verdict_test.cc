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

TEST_F(StallVerdict, TheKernelHasARowOfItsOwn) {
  const KernelPart part;
  why_.verdict.kernel = &part;
  EXPECT_NE(told().find("the row 'kernel'"), std::string::npos);
}

}  // namespace
}  // namespace culprit
