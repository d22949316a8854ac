#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

#include "code/decoder/decoder.h"
#include "stalls/code_features.h"
#include "stalls/function_stalls.h"
#include "stats/estimate.h"

namespace culprit {
namespace {

using namespace std::string_literals;

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
  EXPECT_EQ(bounds.high[kMemory], 30);
  EXPECT_EQ(bounds.unexplained, 70);
  // What had 70 may have had the 30, too.
  EXPECT_EQ(bounds.low[kMemory], 0);
}

// 400 cycles in 400 samples are off by 39.2 at most in 95 of 100 cases: 1.96 x 400 / 20.
TEST(StallCauses, AreCertainBeyondChanceOnly) {
  EXPECT_DOUBLE_EQ(find_chance(400, 400), kNormal95 * 20);
  EXPECT_EQ(find_chance(400, 0), 0);
  CauseCycles most{};
  most[kMemory] = 80;
  most[kTranslation] = 50;
  EXPECT_EQ(bound_causes(100, most, 10).low[kMemory], 40);
  EXPECT_EQ(bound_causes(100, most, 60).low[kMemory], 0);
  most[kTranslation] = 15;
  EXPECT_EQ(bound_causes(100, most, 4).low[kMemory], 0);  // 5 are unexplained
  EXPECT_EQ(bound_causes(100, most, 6).low[kMemory], 79);
  EXPECT_EQ(bound_causes(100, most, 6).unexplained, 5);
}

TEST(StallCauses, NothingIsCertainWhereTwoAreUnbounded) {
  CauseCycles most{};
  most[kMemory] = most[kTranslation] = std::numeric_limits<double>::infinity();
  const CauseBounds bounds = bound_causes(100, most);
  EXPECT_EQ(bounds.low[kMemory], 0);
  EXPECT_EQ(bounds.high[kMemory], 100);
  EXPECT_EQ(bound_causes(0, most).high[kMemory], 0);
}

// The stall bounds memory and translation alike; a model says that memory had more.
TEST(StallCauses, TheLikeliestIsFirst) {
  CauseCycles most{};
  most[kTranslation] = 1000;
  most[kMemory] = 150;
  most[kFetch] = 60;
  CauseCycles likely{};
  likely[kTranslation] = 7;
  likely[kMemory] = 70;
  likely[kFetch] = 500;
  const auto order = order_causes(100, bound_causes(100, most).high, likely);
  EXPECT_EQ(std::vector<size_t>(order.begin(), order.begin() + 3),
            (std::vector<size_t>{kMemory, kTranslation, kFetch}));
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
    const Stalls all = make_stalls(parts, {}, true, true);
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
    const Stalls untold = make_stalls(parts, {}, false, true);
    EXPECT_EQ(untold.untold, untold.cycles);
    for (const double low : untold.low) EXPECT_EQ(low, 0);
  }
}

TEST(Stalls, CodeThatStaysFetchedWaitsForNoFetch) {
  InstructionEvidence one;
  one.cycles = 100;
  one.most[kFetch] = 50;
  EXPECT_EQ(make_stalls({&one}, {}, true, true).high[kFetch], 50);
  EXPECT_EQ(make_stalls({&one}, {}, true, false).high[kFetch], 0);
}

CodeFeatures features_of(const std::string& bytes, const std::string& architecture) {
  const Result<Decoder> decoder = Decoder::make(architecture);
  EXPECT_TRUE(decoder);
  const std::vector<Instruction> code =
      decoder->decode(bytes, LinkAddress(0x1000), Detail::operands);
  EXPECT_EQ(code.size(), 1u);
  return find_features(code.at(0));
}

/// "ls$/!y?": loads, stores, is of the stack, divides, serializes, is microcoded, may mispredict.
std::string describe(const CodeFeatures& features) {
  std::string text;
  if (features.loads) text += 'l';
  if (features.stores) text += 's';
  if (features.is_of_stack && (features.loads || features.stores)) text += '$';
  if (features.divides) text += '/';
  if (features.serializes) text += '!';
  if (features.is_microcoded) text += 'y';
  if (features.may_mispredict) text += '?';
  return text;
}

struct FeatureCase {
  const char* what;
  std::string bytes;
  std::string features;
};

void expect_features(const std::string& architecture, const std::vector<FeatureCase>& cases) {
  for (const FeatureCase& one : cases) {
    EXPECT_EQ(describe(features_of(one.bytes, architecture)), one.features) << one.what;
  }
}

// What each instruction accesses: Intel's instruction set reference.
TEST(CodeFeatures, OfX86) {
  expect_features("x86_64", {
                                {"mov (%rdi),%rdi", "\x48\x8b\x3f"s, "l"},
                                {"mov %rax,(%rdi)", "\x48\x89\x07"s, "s"},
                                {"add %rax,(%rdi,%rcx,8)", "\x48\x01\x04\xcf"s, "ls"},
                                {"cmp %rax,(%rdi)", "\x48\x39\x07"s, "l"},
                                {"lea (%rdi,%rcx,8),%rax", "\x48\x8d\x04\xcf"s, ""},
                                {"nopw (%rax,%rax)", "\x66\x0f\x1f\x04\x00"s, ""},
                                {"prefetcht0 (%rdi)", "\x0f\x18\x0f"s, ""},
                                {"add $1,%rax", "\x48\x83\xc0\x01"s, ""},
                                {"mov 8(%rsp),%rax", "\x48\x8b\x44\x24\x08"s, "l$"},
                                {"mov 8(%rax),%rsp", "\x48\x8b\x60\x08"s, "l"},
                                {"mov 8(%rip),%rax", "\x48\x8b\x05\x08\0\0\0"s, "l$"},
                                {"push %rbx", "\x53"s, "s$"},
                                {"push (%rdi)", "\xff\x37"s, "ls"},
                                {"pop %rbx", "\x5b"s, "l$"},
                                {"popcnt %rbx,%rax", "\xf3\x48\x0f\xb8\xc3"s, ""},
                                {"leave", "\xc9"s, "l$"},
                                {"call 1005", "\xe8\0\0\0\0"s, "s$"},
                                {"call *8(%rax)", "\xff\x50\x08"s, "ls?"},
                                {"ret", "\xc3"s, "l$?"},
                                {"jne 1000", "\x75\xfe"s, "?"},
                                {"jmp 1000", "\xeb\xfe"s, ""},
                                {"jmp *(%rax)", "\xff\x20"s, "l?"},
                                {"div %rcx", "\x48\xf7\xf1"s, "/"},
                                {"sqrtsd %xmm0,%xmm0", "\xf2\x0f\x51\xc0"s, "/"},
                                {"vdivpd %ymm0,%ymm1,%ymm2", "\xc5\xf5\x5e\xd0"s, "/"},
                                {"imul %rcx,%rax", "\x48\x0f\xaf\xc1"s, ""},
                                {"lock addl $1,(%rdi)", "\xf0\x83\x07\x01"s, "ls!"},
                                {"xchg %eax,(%rdi)", "\x87\x07"s, "ls!"},
                                {"xchg %rax,%rcx", "\x48\x91"s, ""},
                                {"mfence", "\x0f\xae\xf0"s, "!"},
                                {"rep stosb", "\xf3\xaa"s, "sy"},
                            });
}

// Where the text says otherwise: by its mnemonic, or by which operand is its last.
TEST(CodeFeatures, AreNotThoseOfTheText) {
  expect_features(
      "x86_64",
      {
          {"lock cmpxchg %rcx,(%rdi)", "\xf0\x48\x0f\xb1\x0f"s, "ls!"},  // no comparison only
          {"bts %rax,(%rdi)", "\x48\x0f\xab\x07"s, "ls"},
          {"movsb", "\xa4"s, "lsy"},                                      // no plain move
          {"mov %fs:0x28,%rax", "\x64\x48\x8b\x04\x25\x28\0\0\0"s, "l"},  // no parentheses
          {"fadds (%rdi)", "\xd8\x07"s, "l"},                             // the last is no result
          {"imulq (%rdi)", "\x48\xf7\x2f"s, "l"},
          {"vextracti128 $1,%ymm0,(%rdi)", "\xc4\xe3\x7d\x39\x07\x01"s, "s"},
          {"mov (%rsp,%rax,8),%rcx", "\x48\x8b\x0c\xc4"s, "l"},  // an array may have many pages
          {"rsqrtss %xmm0,%xmm0", "\xf3\x0f\x52\xc0"s, ""},      // out of a table
      });
}

// Arm Architecture Reference Manual, C6.2.
TEST(CodeFeatures, OfArm) {
  expect_features("aarch64", {
                                 {"ldr x0, [x1, x2, lsl #3]", "\x20\x78\x62\xf8"s, "l"},
                                 {"ldr x0, [sp, #8]", "\xe0\x07\x40\xf9"s, "l$"},
                                 {"ldr x0, 1008", "\x40\x00\x00\x58"s, "l$"},
                                 {"str x0, [x1]", "\x20\x00\x00\xf9"s, "s"},
                                 {"stp x29, x30, [sp, #-16]!", "\xfd\x7b\xbf\xa9"s, "s$"},
                                 {"prfm pldl1keep, [x0]", "\x00\x00\x80\xf9"s, ""},
                                 {"sdiv x0, x1, x2", "\x20\x0c\xc2\x9a"s, "/"},
                                 {"ldadd x0, x1, [x2]", "\x41\x00\x20\xf8"s, "ls!"},
                                 {"ldxr x0, [x1]", "\x20\x7c\x5f\xc8"s, "l!"},
                                 {"dmb ish", "\xbf\x3b\x03\xd5"s, "!"},
                                 {"bl 1000", "\x00\x00\x00\x94"s, ""},
                                 {"br x1", "\x20\x00\x1f\xd6"s, "?"},
                             });
}

TEST(CodeFeatures, OfWhatCannotBeDecodedAnythingIsPossible) {
  EXPECT_EQ(describe(features_of("\x06"s, "x86_64")), "ls/!y");  // no instruction in 64-bit code
}

}  // namespace
}  // namespace culprit
