// Kinds of instructions whose meaning is in the makers' manuals.

#include "mix/instruction_mix.h"

#include <gtest/gtest.h>
#include <map>

#include "mix/instruction_kinds.h"

namespace culprit {
namespace {

std::map<std::string_view, unsigned> kinds(const char* text, const char* architecture = "x86_64",
                                           Flow flow = Flow::next) {
  Instruction instruction;
  instruction.text = text;
  instruction.flow = flow;
  const MixCounts counts = count_kinds(instruction, architecture);
  std::map<std::string_view, unsigned> out;
  for (size_t kind = 0; kind < kMixKinds; ++kind) {
    if (counts[kind] != 0) out.emplace(kMixEvents[kind], counts[kind]);
  }
  return out;
}

using Counts = std::map<std::string_view, unsigned>;

TEST(InstructionKinds, CountFloatingPointOperationsByWidth) {
  EXPECT_EQ(kinds("addsd  (%rdx),%xmm0"), (Counts{{"flops", 1}, {"fp-scalar", 1}}));
  EXPECT_EQ(
      kinds("mulpd  %xmm1,%xmm0"),
      (Counts{{"flops", 2}, {"packed-flops", 2}, {"fp-packed-128", 1}, {"fp-multiplies", 1}}));
  EXPECT_EQ(kinds("vaddps %ymm2,%ymm1,%ymm0"),
            (Counts{{"flops", 8}, {"packed-flops", 8}, {"fp-packed-256", 1}}));
  EXPECT_EQ(kinds("vfmadd231pd %zmm2,%zmm1,%zmm0"), (Counts{{"flops", 16},
                                                            {"packed-flops", 16},
                                                            {"fp-packed-512", 1},
                                                            {"fp-multiplies", 1},
                                                            {"fused-multiply-adds", 1}}));
  EXPECT_EQ(
      kinds("vfnmadd213ss (%rax),%xmm1,%xmm0"),
      (Counts{{"flops", 2}, {"fp-scalar", 1}, {"fp-multiplies", 1}, {"fused-multiply-adds", 1}}));
  EXPECT_EQ(kinds("sqrtsd %xmm0,%xmm0"),
            (Counts{{"flops", 1}, {"fp-scalar", 1}, {"fp-divisions", 1}}));
  EXPECT_EQ(kinds("fmulp  %st,%st(1)"),
            (Counts{{"flops", 1}, {"fp-scalar", 1}, {"fp-multiplies", 1}}));
}

TEST(InstructionKinds, TellMovesShufflesAndConversionsApart) {
  EXPECT_EQ(kinds("movsd  (%rax),%xmm0"), (Counts{{"moves", 1}}));
  EXPECT_EQ(kinds("movapd %xmm1,%xmm0"), (Counts{{"moves", 1}}));
  EXPECT_EQ(kinds("movq   %rax,%rdx"), (Counts{{"moves", 1}}));
  EXPECT_EQ(kinds("unpcklpd %xmm1,%xmm0"), (Counts{{"shuffles", 1}}));
  EXPECT_EQ(kinds("vextractf128 $0x1,%ymm0,%xmm1"), (Counts{{"shuffles", 1}}));
  EXPECT_EQ(kinds("cvtsi2sdq %rax,%xmm0"), (Counts{{"conversions", 1}}));
  EXPECT_EQ(kinds("pxor   %xmm0,%xmm0"), (Counts{{"simd-integer", 1}}));
  EXPECT_EQ(kinds("vpaddd %ymm0,%ymm1,%ymm0"), (Counts{{"simd-integer", 1}}));
}

TEST(InstructionKinds, KnowIntegersAndTheStack) {
  EXPECT_EQ(kinds("imulq  %rbx,%rax"), (Counts{{"integer-multiplies", 1}}));
  EXPECT_EQ(kinds("idivl  %ecx"), (Counts{{"integer-divisions", 1}}));
  EXPECT_EQ(kinds("movq   %rax,-0x8(%rsp)"), (Counts{{"moves", 1}, {"stack-accesses", 1}}));
  EXPECT_EQ(kinds("leaq   0x8(%rsp),%rax"), Counts{});
  EXPECT_EQ(kinds("addq   $0x8,%rax"), Counts{});
  EXPECT_EQ(kinds("nopw   %cs:(%rax,%rax)"), (Counts{{"nops", 1}}));
  EXPECT_EQ(kinds("data16 nopw %cs:(%rax,%rax)"), (Counts{{"nops", 1}}));
}

TEST(InstructionKinds, KnowBranchesByTheirFlow) {
  EXPECT_EQ(kinds("jne    10c0", "x86_64", Flow::branch), (Counts{{"conditional-branches", 1}}));
  EXPECT_EQ(kinds("jmp    *%rax", "x86_64", Flow::indirect_jump), (Counts{{"jumps", 1}}));
  EXPECT_EQ(kinds("retq", "x86_64", Flow::returns), (Counts{{"returns", 1}}));
}

TEST(InstructionKinds, TellBranchesThatCloseLoops) {
  Instruction branch;
  branch.text = "jne    10c0";
  branch.flow = Flow::branch;
  branch.address = LinkAddress(0x10e0);
  const auto is_loop = [&](uint64_t target) {
    branch.target = LinkAddress(target);
    return count_kinds(branch, "x86_64")[static_cast<size_t>(MixKind::loop_branches)];
  };
  EXPECT_EQ(is_loop(0x10c0), 1);
  EXPECT_EQ(is_loop(0x10e0), 1);
  EXPECT_EQ(is_loop(0x10f0), 0);
}

TEST(InstructionKinds, KnowAArch64) {
  EXPECT_EQ(kinds("fadd   d0, d1, d2", "aarch64"), (Counts{{"flops", 1}, {"fp-scalar", 1}}));
  EXPECT_EQ(kinds("fmla   v0.2d, v1.2d, v2.2d", "aarch64"), (Counts{{"flops", 4},
                                                                    {"packed-flops", 4},
                                                                    {"fp-packed-128", 1},
                                                                    {"fp-multiplies", 1},
                                                                    {"fused-multiply-adds", 1}}));
  EXPECT_EQ(kinds("fdiv   s0, s1, s2", "aarch64"),
            (Counts{{"flops", 1}, {"fp-scalar", 1}, {"fp-divisions", 1}}));
  EXPECT_EQ(kinds("udiv   x0, x1, x2", "aarch64"), (Counts{{"integer-divisions", 1}}));
  EXPECT_EQ(kinds("ldr    x0, [sp, #8]", "aarch64"), (Counts{{"stack-accesses", 1}}));
  EXPECT_EQ(kinds("mov    x0, x1", "aarch64"), (Counts{{"moves", 1}}));
}

TEST(InstructionMix, MultipliesExecutions) {
  Profile profile;
  Event event;
  event.name = profile.strings.intern("instructions");
  profile.events.push_back(event);
  profile.images.emplace_back();
  profile.runs.emplace_back();
  profile.contexts.emplace_back();
  ImageFacts facts;
  facts.architecture = "x86_64";
  FunctionFact function;
  function.begin = FileOffset(0);
  function.end = FileOffset(8);
  facts.functions.push_back(function);
  // addpd %xmm1,%xmm0; addsd %xmm1,%xmm0 (objdump -d)
  facts.code.push_back({FileOffset(0), std::string("\x66\x0f\x58\xc1\xf2\x0f\x58\xc1", 8)});
  Histogram histogram;
  histogram.context = ContextId(0u);
  histogram.image = ImageId(0u);
  histogram.offsets = {FileOffset(0), FileOffset(4), FileOffset(100)};
  histogram.columns.push_back({EventId(0u), {0, 0, 0}, {10, 7, 3}, {}});
  profile.histograms.push_back(histogram);
  const uint64_t unknown =
      add_instruction_mix(profile, [&](ImageId) -> const ImageFacts* { return &facts; });
  EXPECT_EQ(unknown, 3u);
  std::map<std::string, uint64_t> sums;
  for (const EventColumn& column : profile.histograms.at(0).columns) {
    for (const uint64_t value : column.value) {
      sums[profile.strings.text(profile.events[column.event.value].name)] += value;
    }
  }
  EXPECT_EQ(sums.at("flops"), 27u);
  EXPECT_EQ(sums.at("fp-packed-128"), 10u);
  EXPECT_EQ(sums.at("fp-scalar"), 7u);
  EXPECT_EQ(sums.at("instructions"), 20u);
}

}  // namespace
}  // namespace culprit
