#include "simulate/counting/code_facts.h"

#include <gtest/gtest.h>
#include <vector>

namespace culprit::counting {
namespace {

using counts_file::ControlFlow;
using counts_file::kEvex;
using counts_file::kFloat;
using counts_file::kRepeats;
using counts_file::kWide;

CodeFacts x86(std::vector<uint8_t> bytes) {
  return decode_x86_64(bytes);
}

CodeFacts arm(uint32_t word) {
  const std::vector<uint8_t> bytes = {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
                                      static_cast<uint8_t>(word >> 16),
                                      static_cast<uint8_t>(word >> 24)};
  return decode_aarch64(bytes);
}

// Bytes as GNU as 2.40 assembles them.
TEST(CodeFacts, TellsBranchesOfX86Apart) {
  EXPECT_EQ(x86({0x74, 0x10}).branch, ControlFlow::conditional);                       // je
  EXPECT_EQ(x86({0x0f, 0x84, 0, 0xfb, 0xff, 0xff}).branch, ControlFlow::conditional);  // je
  EXPECT_EQ(x86({0xe3, 0x10}).branch, ControlFlow::conditional);                       // jrcxz
  EXPECT_EQ(x86({0xeb, 0x10}).branch, ControlFlow::jump);                              // jmp
  EXPECT_EQ(x86({0xf2, 0xe9, 1, 0, 0, 0}).branch, ControlFlow::jump);                  // bnd jmp
  EXPECT_EQ(x86({0xff, 0xe0}).branch, ControlFlow::indirect_jump);                     // jmp *%rax
  EXPECT_EQ(x86({0x3e, 0x41, 0xff, 0xe3}).branch, ControlFlow::indirect_jump);  // notrack jmp *%r11
  EXPECT_EQ(x86({0xe8, 1, 0, 0, 0}).branch, ControlFlow::call);                 // call
  EXPECT_EQ(x86({0x41, 0xff, 0x54, 0x24, 0x08}).branch,
            ControlFlow::indirect_call);                          // call *8(%r12)
  EXPECT_EQ(x86({0xc3}).branch, ControlFlow::returns);            // ret
  EXPECT_EQ(x86({0xf3, 0xc3}).branch, ControlFlow::returns);      // repz ret
  EXPECT_EQ(x86({0x0f, 0x05}).branch, ControlFlow::system_call);  // syscall
  EXPECT_EQ(x86({0xff, 0x30}).branch, ControlFlow::none);         // push (%rax)
  EXPECT_EQ(x86({0x0f, 0x94, 0xc0}).branch, ControlFlow::none);   // sete %al
  EXPECT_EQ(x86({0xc5, 0xf8, 0x77}).branch, ControlFlow::none);   // vzeroupper
}

// Bytes as GNU as 2.40 assembles them, displacements as objdump shows the targets.
TEST(CodeFacts, KnowsWhereDirectBranchesGo) {
  EXPECT_EQ(x86({0xeb, 0xfc}).displacement, -2);
  EXPECT_EQ(x86({0x74, 0x10}).displacement, 0x12);
  EXPECT_EQ(x86({0xe8, 0xfb, 0, 0, 0}).displacement, 0x100);
  EXPECT_EQ(x86({0xf2, 0xe9, 1, 0, 0, 0}).displacement, 7);  // bnd jmp
  EXPECT_EQ(x86({0x0f, 0x84, 0, 0xfb, 0xff, 0xff}).displacement, 6 - 0x500);
  EXPECT_EQ(x86({0x41, 0xff, 0x54, 0x24, 0x08}).displacement, 0);  // call *8(%r12)
  EXPECT_EQ(arm(0x94000002).displacement, 8);                      // bl .+8
  EXPECT_EQ(arm(0x17ffffff).displacement, -4);                     // b .-4
  EXPECT_EQ(arm(0x54ffffe1).displacement, -4);                     // b.ne .-4
  EXPECT_EQ(arm(0x3707ffe0).displacement, -4);                     // tbnz w0, #0, .-4
  EXPECT_EQ(arm(0xb4000040).displacement, 8);                      // cbz x0, .+8
}

TEST(CodeFacts, TellsFloatingPointOfX86FromVectorsOfIntegers) {
  EXPECT_EQ(x86({0xf2, 0x0f, 0x58, 0xc1}).flags & kFloat, kFloat);        // addsd
  EXPECT_EQ(x86({0x66, 0x0f, 0x28, 0x00}).flags & kFloat, kFloat);        // movapd
  EXPECT_EQ(x86({0xd9, 0x00}).flags & kFloat, kFloat);                    // flds
  EXPECT_EQ(x86({0xc5, 0xfb, 0x10, 0x00}).flags & kFloat, kFloat);        // vmovsd
  EXPECT_EQ(x86({0xc4, 0xe2, 0xf5, 0xb8, 0xc2}).flags & kFloat, kFloat);  // vfmadd231pd
  EXPECT_EQ(x86({0x66, 0x0f, 0x6f, 0x00}).flags & kFloat, 0);             // movdqa
  EXPECT_EQ(x86({0x66, 0x0f, 0x74, 0xc1}).flags & kFloat, 0);             // pcmpeqb
  EXPECT_EQ(x86({0xc5, 0xfd, 0xd7, 0xc0}).flags & kFloat, 0);             // vpmovmskb
  EXPECT_EQ(x86({0x66, 0x0f, 0x38, 0xdc, 0xc1}).flags & kFloat, 0);       // aesenc
  EXPECT_EQ(x86({0x48, 0x8b, 0x00}).flags & kFloat, 0);                   // mov
}

TEST(CodeFacts, KnowsRepeatedStringInstructionsAndAvx512) {
  EXPECT_EQ(x86({0xf3, 0x48, 0xa5}).flags, kRepeats);                         // rep movsq
  EXPECT_EQ(x86({0xf2, 0xae}).flags, kRepeats);                               // repnz scasb
  EXPECT_EQ(x86({0x48, 0xa5}).flags, 0);                                      // movsq
  EXPECT_EQ(x86({0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x00}).flags & kEvex, kEvex);  // vmovdqa64 (zmm)
}

TEST(CodeFacts, KnowsVectorsBeyondSixteenBytes) {
  EXPECT_TRUE(x86({0xc5, 0xfc, 0x28, 0x00}).flags & kWide);              // vmovaps (%rax),%ymm0
  EXPECT_TRUE(x86({0xc4, 0xe2, 0xf5, 0xb8, 0x00}).flags & kWide);        // vfmadd231pd
  EXPECT_TRUE(x86({0x62, 0xf1, 0x7c, 0x48, 0x28, 0x00}).flags & kWide);  // vmovaps of %zmm0
  EXPECT_FALSE(x86({0x0f, 0x28, 0x00}).flags & kWide);                   // movaps (%rax),%xmm0
  EXPECT_FALSE(x86({0x48, 0x8b, 0x00}).flags & kWide);                   // mov (%rax),%rax
  EXPECT_TRUE(arm(0x04200000).flags & kWide);                            // add z0.b, z0.b, z0.b
  EXPECT_FALSE(arm(0x4ea01c00).flags & kWide);                           // mov v0.16b, v0.16b
}

TEST(CodeFacts, SurvivesBytesThatAreNoInstruction) {
  EXPECT_EQ(x86({}).branch, ControlFlow::none);
  EXPECT_EQ(x86({0x66, 0x66, 0x66}).branch, ControlFlow::none);
  EXPECT_EQ(x86({0x62}).branch, ControlFlow::none);
  EXPECT_EQ(x86({0xc4, 0xff}).branch, ControlFlow::none);
  EXPECT_EQ(decode_aarch64(std::vector<uint8_t>{1, 2}).branch, ControlFlow::none);
}

// Words as aarch64-linux-gnu-as 2.40 assembles them.
TEST(CodeFacts, TellsBranchesOfAarch64Apart) {
  EXPECT_EQ(arm(0x54000041).branch, ControlFlow::conditional);    // b.ne
  EXPECT_EQ(arm(0xb4000060).branch, ControlFlow::conditional);    // cbz x0
  EXPECT_EQ(arm(0x37000040).branch, ControlFlow::conditional);    // tbnz w0, #0
  EXPECT_EQ(arm(0x14000001).branch, ControlFlow::jump);           // b
  EXPECT_EQ(arm(0x97ffffff).branch, ControlFlow::call);           // bl
  EXPECT_EQ(arm(0xd61f0220).branch, ControlFlow::indirect_jump);  // br x17
  EXPECT_EQ(arm(0xd63f0000).branch, ControlFlow::indirect_call);  // blr x0
  EXPECT_EQ(arm(0xd65f03c0).branch, ControlFlow::returns);        // ret
  EXPECT_EQ(arm(0xd65f0bff).branch, ControlFlow::returns);        // retaa
  EXPECT_EQ(arm(0xd4000001).branch, ControlFlow::system_call);    // svc #0
  EXPECT_EQ(arm(0xf9400000).branch, ControlFlow::none);           // ldr x0, [x0]
}

TEST(CodeFacts, TellsFloatingPointOfAarch64) {
  EXPECT_EQ(arm(0xfd400000).flags, kFloat);  // ldr d0, [x0]
  EXPECT_EQ(arm(0x1e612800).flags, kFloat);  // fadd d0, d0, d1
  EXPECT_EQ(arm(0xf9400000).flags, 0);       // ldr x0, [x0]
  EXPECT_EQ(arm(0x8b010000).flags, 0);       // add x0, x0, x1
}

}  // namespace
}  // namespace culprit::counting
