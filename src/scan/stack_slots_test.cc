#include "scan/stack_slots.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

/// Instructions four bytes apart, each executed so many times.
double count_of(const std::vector<const char*>& texts, double executions = 24) {
  CodePair pair;
  for (size_t i = 0; i < texts.size(); ++i) {
    static constexpr const char* kAddresses[] = {"1000", "1004", "1008", "100c", "1010", "1014"};
    pair.a.push_back({kAddresses[i], texts[i], executions});
  }
  return count_needless_loads({pair}, true);
}

TEST(StackSlots, AVolatileVariableIsLoadedThoughARegisterHasIt) {
  // for (volatile int i = 0; i < 24; ++i), by GCC 12.
  EXPECT_EQ(count_of({"movl 0x14(%rsp),%eax", "addl $0x1,%eax", "movl %eax,0x14(%rsp)",
                      "movl 0x14(%rsp),%r12d", "cmpl $0x17,%r12d", "jle 1000"}),
            24);
  EXPECT_EQ(count_of({"movl 0x8(%rsp),%eax", "cmpl $0x3,%eax", "movl 0x8(%rsp),%ecx"}), 24);
}

TEST(StackSlots, ASpilledValueIsLoadedWhenItsRegisterWasTaken) {
  EXPECT_EQ(count_of({"movq %rax,0x8(%rsp)", "movq %rdx,%rax", "movq 0x8(%rsp),%rcx"}), 0);
  EXPECT_EQ(count_of({"movq %rax,0x8(%rsp)", "callq 2000", "movq 0x8(%rsp),%rax"}), 0);
  EXPECT_EQ(count_of({"movq %rax,0x8(%rsp)", "mulq %rcx", "movq 0x8(%rsp),%rax"}), 0);
  // Another slot, another value in it, and a store that may go to any.
  EXPECT_EQ(count_of({"movq %rax,0x8(%rsp)", "movq 0x10(%rsp),%rcx"}), 0);
  EXPECT_EQ(count_of({"movq %rax,0x8(%rsp)", "addq $0x1,0x8(%rsp)", "movq 0x8(%rsp),%rcx"}), 0);
  EXPECT_EQ(count_of({"movq %rax,0x8(%rsp)", "movq %rcx,(%rdi)", "movq 0x8(%rsp),%rcx"}), 0);
  // By half of its name.
  EXPECT_EQ(count_of({"movq %rax,0x8(%rsp)", "movb $0x1,%al", "movq 0x8(%rsp),%rcx"}), 0);
}

TEST(StackSlots, OtherBlocksAndOtherSyntaxProveNothing) {
  CodePair pair;
  pair.a = {{"1000", "movq %rax,0x8(%rsp)", 1}, {"1004", "movq 0x8(%rsp),%rcx", 24}};
  EXPECT_EQ(count_needless_loads({pair}, true), 0);
  EXPECT_EQ(count_needless_loads({pair}, false), 0);
  EXPECT_EQ(count_of({"str x0, [sp, #8]", "ldr x1, [sp, #8]"}), 0);
}

}  // namespace
}  // namespace culprit::scan
