// Expected uops, latencies and throughputs: llvm-mca-19 -mcpu=znver4 (ivybridge, neoverse-n1),
// which reads the same tables; where we differ on purpose it is said.

#include "simulate/costs/cost_model.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace culprit::simulate {
namespace {

using Bytes = std::vector<uint8_t>;

/// A block and its costs.
struct Costed {
  std::vector<InstructionCosts> costs;
  BlockCosts block;
  std::vector<bool> known;
};

Costed cost(const std::string& target, const std::string& cpu, const std::vector<Bytes>& code) {
  std::string problem;
  const auto model = CostModel::make(target, cpu, problem);
  EXPECT_NE(model, nullptr) << problem;
  Costed result;
  if (!model) return result;
  const std::vector<std::span<const uint8_t>> spans(code.begin(), code.end());
  result.costs.resize(code.size());
  const auto known = std::make_unique<bool[]>(code.size());
  result.block = model->compute_costs(spans, result.costs, {known.get(), code.size()});
  result.known.assign(known.get(), known.get() + code.size());
  return result;
}
Costed cost(const std::vector<Bytes>& code) {
  return cost("x86_64", "znver4", code);
}

template <size_t N>
bool has(const std::array<Register, N>& registers, Register one) {
  return std::find(registers.begin(), registers.end(), one) != registers.end();
}

const Bytes kAdd{0x48, 0x01, 0xd8};             // add %rbx,%rax
const Bytes kAddMemory{0x48, 0x03, 0x03};       // add (%rbx),%rax
const Bytes kChase{0x48, 0x8b, 0x00};           // mov (%rax),%rax
const Bytes kStore{0x48, 0x89, 0x06};           // mov %rax,(%rsi)
const Bytes kMultiply{0x48, 0x0f, 0xaf, 0xc3};  // imul %rbx,%rax
const Bytes kDivide{0x48, 0xf7, 0xf1};          // div %rcx
const Bytes kCompare{0x48, 0x39, 0xd8};         // cmp %rbx,%rax
const Bytes kBranch{0x75, 0xfe};                // jne
const Bytes kZero{0x31, 0xc0};                  // xor %eax,%eax
const Bytes kPush{0x50};                        // push %rax
const Bytes kPop{0x58};                         // pop %rax
const Bytes kCall{0xe8, 0, 0, 0, 0};
const Bytes kFusedMultiply{0xc4, 0xe2, 0xf5, 0xb8, 0xc2};  // vfmadd231pd %ymm2,%ymm1,%ymm0
const Bytes kMoveString{0xf3, 0x48, 0xa5};                 // rep movsq
const Bytes kLocked{0xf0, 0x48, 0x01, 0x06};               // lock add %rax,(%rsi)

TEST(CostModel, TakesLatenciesOfTheCpu) {
  const Costed block = cost({kAdd, kMultiply, kFusedMultiply});
  EXPECT_EQ(block.costs[0].latency_cycles, 1);
  EXPECT_EQ(block.costs[1].latency_cycles, 3);
  EXPECT_EQ(block.costs[2].latency_cycles, 4);
  for (const InstructionCosts& one : block.costs) EXPECT_EQ(one.uops, 1U);
  EXPECT_EQ(cost("x86_64", "ivybridge", {kMultiply}).costs[0].latency_cycles, 3);
}

// addsd, vmulpd %zmm, vfmadd231pd, imul: what a machine file may set.
TEST(CostModel, TellsFloatingPointAdditionsAndMultiplications) {
  const Costed block = cost(
      {{0xf2, 0x0f, 0x58, 0xc1}, {0x62, 0xf1, 0xf5, 0x48, 0x59, 0xc2}, kFusedMultiply, kMultiply});
  EXPECT_EQ(block.costs[0].arithmetic, Arithmetic::fp_add);
  EXPECT_EQ(block.costs[1].arithmetic, Arithmetic::fp_multiply);
  EXPECT_EQ(block.costs[2].arithmetic, Arithmetic::other);
  EXPECT_EQ(block.costs[3].arithmetic, Arithmetic::other);
}

// LLVM's Sapphire Rapids has no divider (llvm-mca-19: a division a cycle). Ice Lake's takes one
// every 4 cycles (256 bits: 8), as uops.info measured on Alder Lake's cores, which are the same.
TEST(CostModel, ModelsWithoutADividerGetOne) {
  const Bytes divide{0xf2, 0x0f, 0x5e, 0xc4};  // divsd %xmm4,%xmm0
  const Bytes wide{0xc5, 0xd5, 0x5e, 0xc4};    // vdivpd %ymm4,%ymm5,%ymm0
  const Costed block = cost("x86_64", "sapphirerapids", {divide, wide});
  EXPECT_DOUBLE_EQ(block.costs[0].divider_cycles, 4);
  EXPECT_DOUBLE_EQ(block.costs[1].divider_cycles, 8);
  EXPECT_DOUBLE_EQ(cost("x86_64", "znver4", {divide}).costs[0].divider_cycles, 5);
}

// dec %ecx; jne: one uop, in the branch's port only (llvm-mca counts two).
TEST(CostModel, FusedPairsUseOnePort) {
  const Costed pair = cost("x86_64", "skylake-avx512", {{0xff, 0xc9}, kBranch});
  EXPECT_EQ(pair.costs[0].uops + pair.costs[1].uops, 1U);
  EXPECT_DOUBLE_EQ(pair.block.port_cycles, 0.5);
}

// Four of them a cycle; the multiplier takes one.
TEST(CostModel, FindsTheBusiestPort) {
  EXPECT_DOUBLE_EQ(cost({kAdd, kAdd, kAdd, kAdd, kAdd, kAdd}).block.port_cycles, 1.5);
  const Costed block = cost({kAdd, kMultiply, kMultiply});
  EXPECT_DOUBLE_EQ(block.block.port_cycles, 2);
  EXPECT_DOUBLE_EQ(block.costs[0].port_cycles, 0);
  EXPECT_DOUBLE_EQ(block.costs[1].port_cycles, 1);
}

// The machine's L1 latency is for the clock to add; llvm-mca says 5, with 4 of the load.
TEST(CostModel, LeavesTheLoadsTimeToTheMachine) {
  const Costed block = cost({kChase, kAddMemory, kStore});
  EXPECT_EQ(block.costs[0].latency_cycles, 0);
  EXPECT_EQ(block.costs[1].latency_cycles, 1);
  EXPECT_EQ(block.costs[0].loads, 1U);
  EXPECT_EQ(block.costs[1].loads, 1U);
  EXPECT_EQ(block.costs[2].loads, 0U);
  EXPECT_EQ(block.costs[2].stores, 1U);
}

TEST(CostModel, TellsAddressesFromOtherOperands) {
  const Costed block = cost({kChase, kAddMemory, kStore});
  const Register rax = block.costs[0].writes[0];
  const Register rbx = block.costs[1].addresses[0];
  EXPECT_EQ(block.costs[0].addresses[0], rax);
  EXPECT_NE(rbx, rax);
  EXPECT_TRUE(has(block.costs[1].reads, rax));
  EXPECT_FALSE(has(block.costs[1].reads, rbx));
  EXPECT_TRUE(has(block.costs[2].reads, rax));
  EXPECT_FALSE(has(block.costs[2].addresses, rax));
}

TEST(CostModel, PartsOfARegisterAreOne) {
  const Costed block =
      cost({{0x89, 0xd8}, {0x48, 0x89, 0xd8}, {0x66, 0x89, 0xd8}});  // mov, 32 64 16
  for (const InstructionCosts& one : block.costs) {
    EXPECT_EQ(one.writes[0], block.costs[0].writes[0]);
    EXPECT_EQ(one.reads[0], block.costs[0].reads[0]);
  }
}

TEST(CostModel, StackPointerOfPushesAndCallsIsNotWaitedFor) {
  const Costed block = cost({kPush, kPop, kCall, {0xc3}, {0x48, 0x83, 0xec, 0x08}});  // sub $8,%rsp
  const Register rsp = block.costs[4].writes[0];
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(has(block.costs[i].writes, rsp)) << i;
    EXPECT_FALSE(has(block.costs[i].reads, rsp)) << i;
  }
  EXPECT_TRUE(block.costs[2].is_call);
}

TEST(CostModel, ZeroIdiomsDependOnNothing) {
  const InstructionCosts zero = cost({kZero}).costs[0];
  EXPECT_EQ(zero.latency_cycles, 0);
  EXPECT_EQ(zero.reads[0], kNoRegister);
  EXPECT_NE(zero.writes[0], kNoRegister);
}

TEST(CostModel, ComparisonAndBranchAreOneUop) {
  const Costed block = cost({kCompare, kBranch, kMultiply, kBranch});
  EXPECT_EQ(block.costs[0].uops, 1U);
  EXPECT_EQ(block.costs[1].uops, 0U);
  EXPECT_EQ(block.costs[3].uops, 1U);
  EXPECT_TRUE(has(block.costs[1].reads, block.costs[0].writes[0]));  // the flags
}

TEST(CostModel, DivisionsKeepTheDividerBusy) {
  const Costed block = cost({kDivide, kAdd});
  EXPECT_EQ(block.costs[0].divider_cycles, 17);  // llvm-mca's reciprocal throughput
  EXPECT_EQ(block.costs[0].latency_cycles, 17);
  EXPECT_EQ(block.costs[1].divider_cycles, 0);
}

// 8 bytes a round, 32 a cycle.
TEST(CostModel, RoundsOfStringInstructionsAreShort) {
  EXPECT_DOUBLE_EQ(cost({kMoveString}).costs[0].microcode_cycles, 0.25);
  EXPECT_EQ(cost({kMoveString}).costs[0].uops, 0U);
}

TEST(CostModel, PrefixesBelongToTheirInstruction) {
  const Costed block = cost({kLocked});
  EXPECT_TRUE(block.known[0]);
  EXPECT_EQ(block.costs[0].loads, 1U);
  EXPECT_EQ(block.costs[0].stores, 1U);
}

TEST(CostModel, UnknownBytesHaveDefaultCosts) {
  const Costed block = cost({{0x06}, kAdd, {}});  // no instruction in 64-bit code
  EXPECT_FALSE(block.known[0]);
  EXPECT_TRUE(block.known[1]);
  EXPECT_FALSE(block.known[2]);
  EXPECT_EQ(block.costs[0].uops, 1U);
  EXPECT_EQ(block.costs[0].latency_cycles, 1);
}

TEST(CostModel, KnowsAarch64) {
  const Costed block = cost("aarch64", "neoverse-n1",
                            {{0x20, 0x84, 0x40, 0xf8},    // ldr x0, [x1], #8
                             {0x20, 0x7c, 0x02, 0x9b},    // mul x0, x1, x2
                             {0x20, 0x08, 0xc2, 0x9a},    // udiv x0, x1, x2
                             {0x00, 0x04, 0x00, 0xd1}});  // sub x0, x0, #1
  const Register x0 = block.costs[3].writes[0];
  const Register x1 = block.costs[1].reads[0];
  EXPECT_EQ(block.costs[0].updates, x1);
  EXPECT_EQ(block.costs[0].addresses[0], x1);
  EXPECT_EQ(block.costs[0].writes[0], x0);
  EXPECT_EQ(block.costs[1].latency_cycles, 4);
  EXPECT_GT(block.costs[2].divider_cycles, 4);
  EXPECT_EQ(block.costs[3].latency_cycles, 1);
}

TEST(CostModel, CpusOfAnotherArchitectureGiveWayToACommonOne) {
  const Bytes udiv{0x20, 0x08, 0xc2, 0x9a};
  EXPECT_EQ(cost("aarch64", "znver4", {udiv}).costs[0].latency_cycles,
            cost("aarch64", "", {udiv}).costs[0].latency_cycles);
}

TEST(CostModel, RefusesWhatLlvmDoesNotKnow) {
  std::string problem;
  EXPECT_EQ(CostModel::make("x86_64", "zen99", problem), nullptr);
  EXPECT_NE(problem.find("zen99"), std::string::npos);
  EXPECT_EQ(CostModel::make("m68k", "", problem), nullptr);
  EXPECT_NE(problem.find("m68k"), std::string::npos);
}

}  // namespace
}  // namespace culprit::simulate
