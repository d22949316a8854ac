// Expected uops, latencies and throughputs: llvm-mca-19 -mcpu=znver4 (ivybridge, neoverse-n1),
// which reads the same tables; where we differ on purpose it is said.

#include "code/costs/cost_model.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace culprit {
namespace {

using Bytes = std::vector<uint8_t>;

/// A block and its costs.
struct Costed {
  std::vector<InstructionCosts> costs;
  BlockCosts block;
  std::vector<bool> known;
};

Costed cost(const std::string& target, const std::string& cpu, const std::vector<Bytes>& code,
            const InstructionTimings& timings = {}) {
  std::string problem;
  const auto model = CostModel::make(target, cpu, problem, timings);
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

const Bytes kAdd{0x48, 0x01, 0xd8};                            // add %rbx,%rax
const Bytes kAddMemory{0x48, 0x03, 0x03};                      // add (%rbx),%rax
const Bytes kChase{0x48, 0x8b, 0x00};                          // mov (%rax),%rax
const Bytes kStore{0x48, 0x89, 0x06};                          // mov %rax,(%rsi)
const Bytes kMultiply{0x48, 0x0f, 0xaf, 0xc3};                 // imul %rbx,%rax
const Bytes kDivide{0x48, 0xf7, 0xf1};                         // div %rcx
const Bytes kCompare{0x48, 0x39, 0xd8};                        // cmp %rbx,%rax
const Bytes kBranch{0x75, 0xfe};                               // jne
const Bytes kZero{0x31, 0xc0};                                 // xor %eax,%eax
const Bytes kPush{0x50};                                       // push %rax
const Bytes kPop{0x58};                                        // pop %rax
const Bytes kCountBits{0xf3, 0x48, 0x0f, 0xb8, 0xc3};          // popcnt %rbx,%rax
const Bytes kCountBitsOfMemory{0xf3, 0x48, 0x0f, 0xb8, 0x03};  // popcnt (%rbx),%rax
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

/// The latency that an instruction has when its class is given one that no other has.
double latency_of_class(InstructionClass kind, const Bytes& instruction) {
  InstructionTimings timings;
  timings[kind].latency_cycles = 77;
  return cost("x86_64", "znver4", {instruction}, timings).costs[0].latency_cycles;
}

// Bytes as GNU as 2.40 assembles them.
TEST(CostModel, MachinesSetTheLatenciesOfClasses) {
  using Kind = InstructionClass;
  const std::pair<Kind, Bytes> kCases[] = {
      {Kind::fp_add, {0xf2, 0x0f, 0x58, 0xc1}},                       // addsd %xmm1,%xmm0
      {Kind::fp_multiply, {0x62, 0xf1, 0xf5, 0x48, 0x59, 0xc2}},      // vmulpd %zmm
      {Kind::fp_fma, kFusedMultiply},                                 //
      {Kind::integer_multiply, kMultiply},                            //
      {Kind::integer_multiply, {0x48, 0x6b, 0xc3, 0x07}},             // imul $7,%rbx,%rax
      {Kind::integer_multiply_wide, {0x48, 0xf7, 0xe3}},              // mul %rbx
      {Kind::integer_multiply_wide, {0x48, 0xf7, 0xeb}},              // imul %rbx
      {Kind::integer_divide_64, kDivide},                             //
      {Kind::integer_divide_32, {0xf7, 0xf9}},                        // idiv %ecx
      {Kind::lea_three_parts, {0x48, 0x8d, 0x44, 0x18, 0x01}},        // lea 1(%rax,%rbx),%rax
      {Kind::lea_scaled, {0x48, 0x8d, 0x04, 0xd8}},                   // lea (%rax,%rbx,8),%rax
      {Kind::shift_by_register, {0x48, 0xd3, 0xe0}},                  // shl %cl,%rax
      {Kind::bit_scan, {0xf3, 0x48, 0x0f, 0xbc, 0xc3}},               // tzcnt %rbx,%rax
      {Kind::locked, kLocked},                                        //
      {Kind::locked, {0x48, 0x87, 0x03}},                             // xchg %rax,(%rbx)
      {Kind::load_complex_address, {0x48, 0x8b, 0x04, 0xd8}},         // mov (%rax,%rbx,8),%rax
      {Kind::load_sign_extended, {0x48, 0x63, 0x03}},                 // movslq (%rbx),%rax
      {Kind::load_vector, {0xf3, 0x0f, 0x7e, 0x03}},                  // movq (%rbx),%xmm0
      {Kind::move_to_vector, {0x66, 0x48, 0x0f, 0x6e, 0xc0}},         // movq %rax,%xmm0
      {Kind::move_from_vector, {0x66, 0x48, 0x0f, 0x7e, 0xc0}},       // movq %xmm0,%rax
      {Kind::fp_sqrt_64, {0xf2, 0x0f, 0x51, 0xc0}},                   // sqrtsd %xmm0,%xmm0
      {Kind::fp_compare, {0x66, 0x0f, 0x2e, 0xc1}},                   // ucomisd %xmm1,%xmm0
      {Kind::convert_fp_to_integer, {0xf2, 0x48, 0x0f, 0x2c, 0xc0}},  // cvttsd2si %xmm0,%rax
      {Kind::convert_integer_to_fp, {0xf2, 0x48, 0x0f, 0x2a, 0xc0}},  // cvtsi2sd %rax,%xmm0
      {Kind::store, {0x48, 0x89, 0x03}},                              // mov %rax,(%rbx)
      {Kind::store, {0xc7, 0x03, 0x01, 0x00, 0x00, 0x00}},            // movl $1,(%rbx)
      {Kind::vector_add, {0x66, 0x0f, 0xdb, 0xc1}},                   // pand %xmm1,%xmm0
      {Kind::vector_add, {0xc5, 0xfd, 0x76, 0xc1}},                   // vpcmpeqd %ymm1,%ymm0,%ymm0
      {Kind::vector_shift, {0x66, 0x0f, 0x72, 0xf0, 0x01}},           // pslld $1,%xmm0
      {Kind::shuffle_bytes, {0x66, 0x0f, 0x38, 0x00, 0xc1}},          // pshufb %xmm1,%xmm0
      {Kind::shuffle_lanes, {0xc4, 0xe3, 0xfd, 0x00, 0xc0, 0x01}},    // vpermq $1,%ymm0,%ymm0
      {Kind::x87_add, {0xd8, 0xc1}},                                  // fadd %st(1),%st
  };
  for (const auto& [kind, instruction] : kCases) {
    EXPECT_EQ(latency_of_class(kind, instruction), 77) << static_cast<int>(kind);
  }
  EXPECT_EQ(latency_of_class(Kind::fp_add, {0xf2, 0x0f, 0xd0, 0xc1}), 3);  // addsubps
  EXPECT_EQ(latency_of_class(Kind::locked, kAdd), 1);
  EXPECT_NE(latency_of_class(Kind::store, {0x48, 0x8b, 0x03}), 77);  // mov (%rbx),%rax
}

TEST(CostModel, MachinesSetHowOftenAClassCanBegin) {
  InstructionTimings timings;
  timings[InstructionClass::integer_divide_64] = {12, 7};
  timings[InstructionClass::bit_scan] = {1, 0.25};
  timings[InstructionClass::integer_multiply].cycles = 2;
  const Bytes scan{0x48, 0x0f, 0xbc, 0xc3};  // bsf %rbx,%rax
  const Costed block = cost("x86_64", "znver4", {kDivide, scan, kMultiply, kMultiply}, timings);
  EXPECT_EQ(block.costs[0].divider_cycles, 7);
  EXPECT_EQ(block.costs[0].latency_cycles, 12);
  EXPECT_EQ(block.costs[1].microcode_cycles, 0);  // LLVM: six uops
  EXPECT_EQ(block.costs[1].uops, 1U);
  EXPECT_DOUBLE_EQ(block.block.port_cycles, 4.25);  // a multiplier does bsf, too
}

// Neither waits for ports: locked instructions exclude each other, fences exclude everything.
TEST(CostModel, LocksAndFencesKeepNoPortBusy) {
  InstructionTimings timings;
  timings[InstructionClass::locked] = {3.5, 7};
  timings[InstructionClass::memory_fence] = {1, 57};
  const Bytes fence{0x0f, 0xae, 0xf0};     // mfence
  const Bytes exchange{0x48, 0x87, 0x03};  // xchg %rax,(%rbx)
  for (const char* const cpu : {"znver4", "sapphirerapids"}) {
    const Costed block = cost("x86_64", cpu, {kLocked, exchange, fence, kAdd}, timings);
    EXPECT_EQ(block.costs[0].exclusive_cycles, 7) << cpu;
    EXPECT_EQ(block.costs[1].exclusive_cycles, 7) << cpu;
    EXPECT_EQ(block.costs[1].microcode_cycles, 0) << cpu;
    EXPECT_EQ(block.costs[2].serialize_cycles, 57) << cpu;
    EXPECT_EQ(block.costs[2].exclusive_cycles, 0) << cpu;
    EXPECT_EQ(block.costs[3].exclusive_cycles, 0) << cpu;
    EXPECT_LT(block.block.port_cycles, 7) << cpu;
  }
}

// Measured on Zen 4 with bench/instruction_costs.py, as Intel's and AMD's manuals have it.
TEST(CostModel, EndbrIsANop) {
  for (const char* cpu : {"znver4", "sapphirerapids", "skylake", "icelake-server"}) {
    const InstructionCosts endbr = cost("x86_64", cpu, {{0xf3, 0x0f, 0x1e, 0xfa}}).costs[0];
    EXPECT_EQ(endbr.microcode_cycles, 0) << cpu;
    EXPECT_EQ(endbr.uops, 1U) << cpu;
  }
}

// movzbl %al,%eax; movslq %ebx,%rax: a cycle each, as Agner Fog and uops.info measured everywhere.
TEST(CostModel, ExtensionsOfRegistersAreNoMoves) {
  const Costed block = cost({{0x0f, 0xb6, 0xc0}, {0x48, 0x63, 0xc3}});
  EXPECT_EQ(block.costs[0].latency_cycles, 1);
  EXPECT_EQ(block.costs[1].latency_cycles, 1);
}

// What a sum waits for is its other operand: the load is under way early. AMD's guide: addsd 3,
// vfmadd231sd 4.
TEST(CostModel, LoadsOfOperandsAreNoPartOfAnOperation) {
  const Costed block = cost({{0xf2, 0x0f, 0x58, 0x07},        // addsd (%rdi),%xmm0
                             {0xc4, 0xe2, 0xf1, 0xb9, 0x07},  // vfmadd231sd (%rdi),...
                             {0x48, 0x83, 0x07, 0x01}});      // addq $1,(%rdi)
  EXPECT_EQ(block.costs[0].latency_cycles, 3);
  EXPECT_EQ(block.costs[1].latency_cycles, 4);
  EXPECT_EQ(block.costs[2].latency_cycles, 1);
}

// sete %al; mov $1,%bl; mov %bl,%al: a cycle each where the same register follows (measured on Zen
// 4; Intel's manual, 3.5.2.3, of partial registers).
TEST(CostModel, PartsOfARegisterWaitForTheRest) {
  const Costed block = cost({{0x0f, 0x94, 0xc0}, {0xb3, 0x01}, {0x88, 0xd8}});
  for (const InstructionCosts& one : block.costs) {
    EXPECT_TRUE(has(one.reads, one.writes[0]));
    EXPECT_EQ(one.latency_cycles, 1);
  }
}

// movntps %xmm0,(%rdi); movb $1,(%rdi): llvm-mca-19 has 518 and 13, for whoever loads that.
TEST(CostModel, NobodyWaitsForTheResultOfAStore) {
  const Costed block = cost("x86_64", "sapphirerapids", {{0x0f, 0x2b, 0x07}, {0xc6, 0x07, 0x01}});
  EXPECT_LE(block.costs[0].latency_cycles, 1);
  EXPECT_LE(block.costs[1].latency_cycles, 1);
}

// fadd %st(1),%st; fldt (%rdi): the stack is one value, which a load begins anew.
TEST(CostModel, X87WaitsForItsStack) {
  const Costed block = cost({{0xd8, 0xc1}, {0xdb, 0x2f}});
  const Register stack = block.costs[0].writes[0];
  EXPECT_NE(stack, kNoRegister);
  EXPECT_TRUE(has(block.costs[0].reads, stack));
  EXPECT_TRUE(has(block.costs[1].writes, stack));
  EXPECT_FALSE(has(block.costs[1].reads, stack));
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

// ret, push and pop; subtractions from the stack pointer make room for the function's own data,
// too.
TEST(CostModel, ReturnsPushesAndPopsAreOfFrames) {
  const Costed block = cost({kPush, kPop, {0xc3}, kCall, {0x48, 0x83, 0xec, 0x08}, kAdd});
  const std::vector<bool> expected{true, true, true, false, false, false};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(block.costs[i].is_of_frame, expected[i]) << i;
  }
}

TEST(CostModel, WhatNoPipelineTakesIsMicrocode) {
  const Bytes exponential{0xd9, 0xf0};       // f2xm1
  const Bytes root{0xf2, 0x0f, 0x51, 0xc1};  // sqrtsd
  const Costed block = cost("x86_64", "znver4", {exponential, root, kDivide, kMultiply}, {});
  EXPECT_TRUE(block.costs[0].is_microcode);
  for (size_t i = 1; i < 4; ++i) EXPECT_FALSE(block.costs[i].is_microcode) << i;
}

// Its name begins as a pop's, whose result is there when it is loaded.
TEST(CostModel, CountingBitsOfMemoryIsNoPop) {
  const Costed block = cost({kCountBits, kCountBitsOfMemory, kPop});
  EXPECT_EQ(block.costs[0].latency_cycles, 1);
  EXPECT_EQ(block.costs[1].latency_cycles, 1);
  EXPECT_EQ(block.costs[2].latency_cycles, 0);
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

// Their time is told round by round, and no round waits for the registers of the one before.
TEST(CostModel, RoundsOfStringInstructionsCostTheirBlockNothing) {
  const InstructionCosts rounds = cost({kMoveString}).costs[0];
  EXPECT_EQ(rounds.uops, 0U);
  EXPECT_EQ(rounds.loads, 1U);
  EXPECT_EQ(rounds.stores, 1U);
  EXPECT_EQ(rounds.microcode_cycles, 0);
  for (const Register one : rounds.writes) EXPECT_EQ(one, kNoRegister);
  EXPECT_EQ(rounds.updates, kNoRegister);
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
}  // namespace culprit
