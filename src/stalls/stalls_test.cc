#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

#include "code/decoder.h"
#include "stalls/code_features.h"
#include "stalls/function_stalls.h"

namespace culprit {
namespace {

constexpr auto kMemory = static_cast<size_t>(StallCause::load_memory);
constexpr auto kTranslation = static_cast<size_t>(StallCause::translation);
constexpr auto kFetch = static_cast<size_t>(StallCause::code_fetch);

// By hand: the drawing at the top of stall_causes.h.
TEST(StallCauses, AreBoundedByEachOther) {
  CauseCycles most{};
  most[kMemory] = 80;
  most[kTranslation] = 50;
  const CauseBounds bounds = bound_causes(100, most);
  EXPECT_EQ(bounds.high[kMemory], 80);
  EXPECT_EQ(bounds.high[kTranslation], 50);
  EXPECT_EQ(bounds.low[kMemory], 50);
  EXPECT_EQ(bounds.low[kTranslation], 20);
  EXPECT_EQ(bounds.unexplained, 0);
}

TEST(StallCauses, WhatNoneCanHaveHadIsUnexplained) {
  CauseCycles most{};
  most[kMemory] = 30;
  const CauseBounds bounds = bound_causes(100, most);
  EXPECT_EQ(bounds.low[kMemory], 30);
  EXPECT_EQ(bounds.high[kMemory], 30);
  EXPECT_EQ(bounds.unexplained, 70);
}

TEST(StallCauses, NothingIsCertainWhereTwoAreUnbounded) {
  CauseCycles most{};
  most[kMemory] = most[kTranslation] = std::numeric_limits<double>::infinity();
  const CauseBounds bounds = bound_causes(100, most);
  EXPECT_EQ(bounds.low[kMemory], 0);
  EXPECT_EQ(bounds.high[kMemory], 100);
  EXPECT_EQ(bound_causes(0, most).high[kMemory], 0);
}

TEST(Stalls, CloseForAnyEvidence) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> cycles(0, 1000);
  for (int round = 0; round < 2000; ++round) {
    std::vector<InstructionEvidence> evidence(1 + random() % 20);
    std::vector<const InstructionEvidence*> parts;
    for (InstructionEvidence& one : evidence) {
      if (random() % 3 == 0) one.cycles = cycles(random);
      one.best.execution = cycles(random) / 10;
      one.best.chain = cycles(random) / 10;
      one.executions = 1;
      for (double& most : one.most) {
        if (random() % 6 == 0) most = cycles(random) / 3;
      }
      parts.push_back(&one);
    }
    const Stalls all = make_stalls(parts, true, true);
    EXPECT_NEAR(all.best.total() - all.gain + all.explained + all.unexplained, all.cycles, 1e-6);
    double highest = 0;
    double lowest = 0;
    for (size_t cause = 0; cause < kStallCauses; ++cause) {
      EXPECT_LE(all.low[cause], all.high[cause]);
      highest += all.high[cause];
      lowest += all.low[cause];
    }
    EXPECT_LE(lowest, all.explained + 1e-6);
    EXPECT_GE(highest, all.explained - 1e-6);
    EXPECT_LE(all.cycles, all.best.total() + highest + all.unexplained + 1e-6);
    // Nothing can be told where executions are not known.
    const Stalls untold = make_stalls(parts, false, true);
    EXPECT_EQ(untold.untold, untold.cycles);
    for (const double low : untold.low) EXPECT_EQ(low, 0);
  }
}

TEST(Stalls, CodeThatStaysFetchedWaitsForNoFetch) {
  InstructionEvidence one;
  one.cycles = 100;
  one.most[kFetch] = 50;
  EXPECT_EQ(make_stalls({&one}, true, true).high[kFetch], 50);
  EXPECT_EQ(make_stalls({&one}, true, false).high[kFetch], 0);
}

CodeFeatures features_of(const std::string& text, Flow flow = Flow::next) {
  Instruction one;
  one.text = text;
  one.flow = flow;
  return find_features(one, "x86_64");
}

// What each instruction accesses: Intel's instruction set reference.
TEST(CodeFeatures, OfX86) {
  EXPECT_TRUE(features_of("movq   (%rdi),%rdi").loads);
  EXPECT_FALSE(features_of("movq   (%rdi),%rdi").stores);
  EXPECT_TRUE(features_of("movq   %rax,(%rdi)").stores);
  EXPECT_FALSE(features_of("movq   %rax,(%rdi)").loads);
  EXPECT_TRUE(features_of("addq   %rax,(%rdi,%rcx,8)").stores);
  EXPECT_TRUE(features_of("addq   %rax,(%rdi,%rcx,8)").loads);
  EXPECT_TRUE(features_of("cmpq   %rax,(%rdi)").loads);
  EXPECT_FALSE(features_of("cmpq   %rax,(%rdi)").stores);
  EXPECT_FALSE(features_of("leaq   (%rdi,%rcx,8),%rax").loads);
  EXPECT_FALSE(features_of("nopw   (%rax,%rax)").loads);
  EXPECT_FALSE(features_of("addq   $0x1,%rax").loads);
  EXPECT_TRUE(features_of("movq   0x8(%rsp),%rax").is_of_stack);
  EXPECT_FALSE(features_of("movq   0x8(%rax),%rsp").is_of_stack);
  EXPECT_TRUE(features_of("pushq  %rbx").stores);
  EXPECT_TRUE(features_of("pushq  %rbx").is_of_stack);
  EXPECT_TRUE(features_of("divq   %rcx").divides);
  EXPECT_TRUE(features_of("sqrtsd %xmm0,%xmm0").divides);
  EXPECT_TRUE(features_of("vdivpd %ymm0,%ymm1,%ymm2").divides);
  EXPECT_FALSE(features_of("imulq  %rcx,%rax").divides);
  EXPECT_TRUE(features_of("lock addl $0x1,(%rdi)").serializes);
  EXPECT_TRUE(features_of("xchgl  %eax,(%rdi)").serializes);
  EXPECT_FALSE(features_of("xchgq  %rax,%rcx").serializes);
  EXPECT_TRUE(features_of("mfence").serializes);
  EXPECT_TRUE(features_of("rep stosb %al,%es:(%rdi)").is_microcoded);
  EXPECT_TRUE(features_of("jne    1210", Flow::branch).may_mispredict);
  EXPECT_FALSE(features_of("jmp    1210", Flow::jump).may_mispredict);
}

TEST(CodeFeatures, OfUnknownArchitecturesAnythingIsPossible) {
  Instruction one;
  one.text = "add r1,r2";
  EXPECT_TRUE(find_features(one, "riscv64").loads);
  EXPECT_FALSE(find_features(one, "riscv64").is_of_stack);
}

}  // namespace
}  // namespace culprit
