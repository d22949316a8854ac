// Expected cycles per iteration: llvm-mca-19 -mcpu=... -iterations=1000, total / 1000, of loops
// that nothing but their chain bounds (where something else does, it is said).

#include "pipeline/recurrence.h"

#include <gtest/gtest.h>
#include <numeric>
#include <string>

#include "pipeline/function_costs.h"
#include "pipeline/test_code.h"

namespace culprit {
namespace {

using namespace std::string_literals;

struct Looked {
  Recurrence chain;
  double throughput = 0;
};

Looked look(const std::string& architecture, const std::string& cpu, double width,
            const std::string& bytes) {
  const TestCode test = make_code(architecture, bytes, {});
  const FactsLookup lookup = test.lookup();
  CodeIndex index(test.profile, lookup);
  std::string problem;
  const auto model = CostModel::make(architecture, cpu, problem);
  EXPECT_NE(model, nullptr) << problem;
  const auto costs = find_function_costs(index, ImageId(0u), test.facts.functions[0], *model);
  EXPECT_TRUE(costs);
  std::vector<size_t> all(costs->costs.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return {find_recurrence(costs->costs, model->load_cycles()),
          throughput_cycles(*costs, all, width)};
}

Recurrence chain_of(const std::string& cpu, const std::string& bytes) {
  return look("x86_64", cpu, 4, bytes).chain;
}

const std::string kEnd = "\xff\xc9\x75\xfe"s;  // dec %ecx; jne .
const std::string kAdd = "\xf2\x0f\x58\xc1"s;  // addsd %xmm1,%xmm0
const std::string kDot =
    "\xf2\x0f\x10\x0c\xce"                                 // movsd (%rsi,%rcx,8),%xmm1
    "\xf2\x0f\x59\x0c\xcf"                                 // mulsd (%rdi,%rcx,8),%xmm1
    "\xf2\x0f\x58\xc1\x48\xff\xc1\x75\xfe"s;               // addsd %xmm1,%xmm0; inc; jne
const std::string kTwo = "\x48\x0f\xaf\xd8\x48\x01\xd8"s;  // imul %rax,%rbx; add %rbx,%rax
const std::string kChase = "\x48\x8b\x00"s;                // mov (%rax),%rax
const std::string kRotate = "\x48\x0f\xaf\xd8\x48\x89\xc8\x48\x89\xd9"s;
const std::string kFourMultiplies =  // imul %rsi,%rax %rbx %rdi %r8
    "\x48\x0f\xaf\xc6\x48\x0f\xaf\xde\x48\x0f\xaf\xfe\x4c\x0f\xaf\xc6"s;

TEST(Recurrence, IsTheLoopsLatency) {
  EXPECT_DOUBLE_EQ(chain_of("skylake-avx512", kAdd + kEnd).cycles, 4);
  EXPECT_DOUBLE_EQ(chain_of("icelake-server", kAdd + kEnd).cycles, 4);
  EXPECT_DOUBLE_EQ(chain_of("znver4", kAdd + kEnd).cycles, 3);
  EXPECT_DOUBLE_EQ(chain_of("skylake-avx512", kDot).cycles, 4);
  EXPECT_DOUBLE_EQ(chain_of("znver4", kDot).cycles, 3);
  EXPECT_DOUBLE_EQ(chain_of("skylake-avx512", kTwo + kEnd).cycles, 4);
  EXPECT_DOUBLE_EQ(chain_of("skylake-avx512", kChase + kEnd).cycles, 5);
}

// A value that comes around only every other iteration: imul's 3 cycles, two moves for nothing
// (llvm-mca eliminates one of four moves less, and says 3.25).
TEST(Recurrence, GoesOverSeveralIterations) {
  EXPECT_DOUBLE_EQ(chain_of("znver4", kRotate + kEnd).cycles, 3);
  EXPECT_DOUBLE_EQ(chain_of("skylake-avx512", kRotate + kEnd).cycles, 3);
}

TEST(Recurrence, NamesTheInstructionsOfTheChain) {
  const Recurrence dot = chain_of("skylake-avx512", kDot);
  EXPECT_EQ(dot.shares, (std::vector<double>{0, 0, 4, 0, 0}));
  const Recurrence two = chain_of("skylake-avx512", kTwo + kEnd);
  EXPECT_EQ(two.shares, (std::vector<double>{3, 1, 0, 0}));
}

// The multiplier takes one a cycle: 4 cycles, not the 3 of the chains (llvm-mca: 4).
TEST(Recurrence, OfSeveralChainsIsTheSlowest) {
  const Looked loop = look("x86_64", "skylake-avx512", 4, kFourMultiplies + kEnd);
  EXPECT_DOUBLE_EQ(loop.chain.cycles, 3);
  EXPECT_DOUBLE_EQ(loop.throughput, 4);
}

// ldr d1,[x1],#8; fadd d0,d0,d1; subs; b.ne: its address moves on by itself, a cycle each.
TEST(Recurrence, AddressesThatMoveOnDoNotWaitForData) {
  const std::string sum = "\x21\x84\x40\xfc\x00\x28\x61\x1e\x00\x04\x00\xf1\xa1\xff\xff\x54"s;
  EXPECT_DOUBLE_EQ(look("aarch64", "neoverse-n1", 4, sum).chain.cycles, 2);
  const std::string chase = "\x00\x00\x40\xf9\x21\x04\x00\xf1\xc1\xff\xff\x54"s;
  EXPECT_DOUBLE_EQ(look("aarch64", "neoverse-n1", 4, chase).chain.cycles, 4);
}

TEST(Recurrence, IsNoneWhereNothingIsCarriedOver) {
  const Recurrence none = chain_of("skylake-avx512", "\x31\xc0\x90"s);  // xor %eax,%eax; nop
  EXPECT_EQ(none.cycles, 0);
  EXPECT_EQ(find_recurrence({}, 5).cycles, 0);
}

}  // namespace
}  // namespace culprit
