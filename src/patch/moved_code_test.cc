#include "patch/moved_code.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

constexpr LinkAddress kBegin{0x1000};

/// Bytes in hexadecimal, as objdump prints them.
std::string from_hex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    if (text[i] == ' ') ++i;
    bytes.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Result<MovedCode> plan(std::string_view hex) {
  const Result<Decoder> decoder = Decoder::make("x86_64");
  EXPECT_TRUE(decoder);
  return plan_move(*decoder, from_hex(hex), kBegin);
}

std::string problem(std::string_view hex) {
  const Result<MovedCode> moved = plan(hex);
  return moved ? "" : moved.error().message;
}

using Reference = MovedCode::Reference;

// 1000: push %rbp; mov %rsp,%rbp; sub $0x10,%rsp; leave; ret
TEST(MovedCode, IsWholeInstructionsThatAJumpFitsInto) {
  const Result<MovedCode> moved = plan("55 4889e5 4883ec10 c9 c3");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->replaced, 8u);  // 1 + 3 are less than 5
  EXPECT_EQ(moved->bytes, from_hex("55 4889e5 4883ec10"));
  EXPECT_TRUE(moved->references.empty());
}

// 1000: push %rbx; mov 0x2ff9(%rip),%eax (of 4000: 4000 - 1007); pop %rbx; ret
TEST(MovedCode, KnowsDisplacementsFromTheInstruction) {
  const Result<MovedCode> moved = plan("53 8b05f92f0000 5b c3");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->replaced, 7u);
  EXPECT_EQ(moved->references, (std::vector<Reference>{{3, 0, false, 0x3000}}));
}

// 1000: movl $0x1,0x2ff6(%rip) (of 4000: 4000 - 100a): an immediate follows the displacement
TEST(MovedCode, FindsADisplacementBeforeAnImmediate) {
  const Result<MovedCode> moved = plan("c705f62f000001000000 c3");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->references, (std::vector<Reference>{{2, 4, false, 0x3000}}));
}

// 1000: movl $0x2ff6,0x2ff6(%rip): which of the two is the displacement?
TEST(MovedCode, RefusesWhatIsNotSure) {
  EXPECT_NE(problem("c705f62f0000f62f0000 c3"), "");
}

// 1000: sub $8,%rsp; call 1100 (1100 - 1009); add $8,%rsp; ret
TEST(MovedCode, CallsReturnToWhereTheyWould) {
  const Result<MovedCode> moved = plan("4883ec08 e8f7000000 4883c408 c3");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->replaced, 9u);
  // sub; push 2(%rip); jmp .+8; the return address; jmp 1100
  EXPECT_EQ(moved->bytes, from_hex("4883ec08 ff3502000000 eb08 0000000000000000 e900000000"));
  EXPECT_EQ(moved->references, (std::vector<Reference>{{12, 0, true, 9}, {21, 0, false, 0x100}}));
}

// 1000: push %rbx; call *0x2ff9(%rip) (of 4000: 4000 - 1007); pop %rbx; ret
TEST(MovedCode, CallsByAPointerToo) {
  const Result<MovedCode> moved = plan("53 ff15f92f0000 5b c3");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->bytes, from_hex("53 ff3502000000 eb08 0000000000000000 ff2500000000"));
  EXPECT_EQ(moved->references, (std::vector<Reference>{{9, 0, true, 7}, {19, 0, false, 0x3000}}));
  EXPECT_NE(problem("53 ffd0 6690 5b c3"), "");  // call *%rax
}

// 1000: test %edi,%edi; je 1008; mov %edi,%eax; ret; nop; 1008: ret
TEST(MovedCode, BranchesReachFarther) {
  const Result<MovedCode> moved = plan("85ff 7404 89f8 c3 90 c3");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->replaced, 6u);
  EXPECT_EQ(moved->bytes, from_hex("85ff 0f8400000000 89f8"));
  EXPECT_EQ(moved->references, (std::vector<Reference>{{4, 0, false, 8}}));
  EXPECT_NE(problem("85ff e302 89f8 c3 90 c3"), "");  // jrcxz
}

// 1000: mov %edi,%eax; jmp 1100 (1100 - 1007)
TEST(MovedCode, JumpsAway) {
  const Result<MovedCode> moved = plan("89f8 e9f9000000");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->references, (std::vector<Reference>{{3, 0, false, 0x100}}));
}

// 1000: mov %edi,%eax; inc %eax; ret
TEST(MovedCode, TakesAReturnAlong) {
  const Result<MovedCode> moved = plan("89f8 ffc0 c3");
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->bytes, from_hex("89f8 ffc0 c3"));
}

TEST(MovedCode, RefusesWhatIsTooShort) {
  EXPECT_EQ(problem("89f8 c3"), "is shorter than 5 bytes");  // mov %edi,%eax; ret
  EXPECT_EQ(problem(""), "is shorter than 5 bytes");
}

// 1000: add (%rdi),%rax; add $8,%rdi; dec %rsi; jne 1003 (or 1000); ret
TEST(MovedCode, RefusesLoopsToWhatIsMoved) {
  EXPECT_EQ(problem("480307 4883c708 48ffce 75f7 c3"), "jumps back to its own beginning");
  EXPECT_EQ(problem("480307 4883c708 48ffce 75f4 c3"), "jumps back to its own beginning");
  EXPECT_EQ(problem("480307 4883c708 48ffce 75fb c3"), "");  // jne 1007: behind it
}

// 1000: push %rbx; mov %edi,%ebx; nop (2); call 1000; pop %rbx; ret: recursion is a call
TEST(MovedCode, AllowsRecursion) {
  EXPECT_EQ(problem("53 89fb 6690 e8f6ffffff 5b c3"), "");
}

TEST(MovedCode, RefusesWhatIsNoCode) {
  EXPECT_NE(problem("06 06 06 06 06 06"), "");
}

}  // namespace
}  // namespace culprit
