#include "scan/register_use.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

CodePair pair_of(std::vector<CodeLine> a, std::vector<CodeLine> b) {
  return {"kernel.c:1", "", std::move(a), std::move(b)};
}

TEST(RegisterUse, KnowsARegisterByAllItsNames) {
  const std::vector<CodePair> code = {pair_of({{"0", "movl %eax,%r8d", 1},
                                               {"3", "movb %al,%sil", 1},
                                               {"6", "addq %r8,%rsi", 1},
                                               {"9", "vaddpd %ymm3,%ymm1,%ymm1", 1},
                                               {"c", "addsd %xmm3,%xmm12", 1},
                                               {"f", "subq $0x8,%rsp", 1}},
                                              {})};
  const std::vector<RegisterUse> use = find_register_use(code, true);
  EXPECT_EQ(use[0].registers, 3u);  // ax, r8, si
  EXPECT_EQ(use[1].registers, 3u);  // 1, 3, 12
}

TEST(RegisterUse, AccessesToTheStackHaveAClassAndArraysAreNone) {
  const std::vector<CodePair> code = {pair_of({{"0", "addl %esi,0xc(%rsp)", 48},
                                               {"4", "movsd %xmm0,0x18(%rsp)", 24},
                                               {"8", "movl 0x1ec(%rsp,%rdx,4),%esi", 48},
                                               {"c", "leaq 0x20(%rsp),%rdi", 1}},
                                              {})};
  const std::vector<RegisterUse> use = find_register_use(code, true);
  EXPECT_EQ(use[0].stack_accesses, 48);
  EXPECT_EQ(use[1].stack_accesses, 24);
}

TEST(RegisterUse, OfAArch64) {
  const std::vector<CodePair> code = {pair_of({{"0", "ldr x9, [sp, #24]", 8},
                                               {"4", "str d31, [sp]", 4},
                                               {"8", "add w9, w10, w11, lsl #3", 8},
                                               {"c", "fmla v31.2d, v0.2d, v1.2d", 8},
                                               {"10", "ldr x0, [sp, x2, lsl #3]", 8}},
                                              {})};
  const std::vector<RegisterUse> use = find_register_use(code, true);
  EXPECT_EQ(use[0].registers, 5u);  // 9, 10, 11, 0, 2
  EXPECT_EQ(use[1].registers, 3u);  // 31, 0, 1
  EXPECT_EQ(use[0].stack_accesses, 8);
  EXPECT_EQ(use[1].stack_accesses, 4);
}

TEST(RegisterUse, AVariableOnTheStackBesideFreeRegistersIsNoSpill) {
  const CodeLine load{"0", "movl (%rdi,%rdx,4),%esi", 48};
  const CodeLine on_stack{"4", "addl %esi,0xc(%rsp)", 48};
  const CodeLine in_register{"4", "addl %esi,%eax", 48};
  EXPECT_FALSE(lacks_registers({pair_of({load, on_stack}, {load, in_register})}, true));
}

TEST(RegisterUse, OneSideHasRegistersThatTheOtherHadToDoWithout) {
  const std::vector<CodeLine> few = {{"0", "addq %rax,0x8(%rsp)", 1}, {"4", "addq %rcx,%rax", 1}};
  const std::vector<CodeLine> many = {{"0", "addq %rax,%r8", 1}, {"4", "addq %rcx,%r9", 1}};
  EXPECT_TRUE(lacks_registers({pair_of(few, many)}, true));
  EXPECT_TRUE(lacks_registers({pair_of(many, few)}, false));
}

TEST(RegisterUse, WhereAllAreInUseTheyAreLacking) {
  std::vector<CodeLine> all = {{"0", "movsd 0x8(%rsp),%xmm0", 1}};
  for (int i = 1; i < 16; ++i) {
    all.push_back({"4", "addsd %xmm0,%xmm" + std::to_string(i), 1});
  }
  EXPECT_TRUE(lacks_registers({pair_of(all, {})}, true));
}

}  // namespace
}  // namespace culprit::scan
