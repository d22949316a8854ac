// Expected texts, sizes and flows: hand-assembled from the Intel and Arm manuals
// and read back with `objdump -D -b binary -m i386:x86-64` (binutils 2.40).

#include "code/decoder/decoder.h"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace culprit {
namespace {

using namespace std::string_literals;

std::vector<Instruction> decode(const std::string& architecture, const std::string& bytes,
                                uint64_t start = 0x1000, Syntax syntax = Syntax::att) {
  Result<Decoder> decoder = Decoder::make(architecture, syntax);
  EXPECT_TRUE(decoder.has_value());
  return decoder->decode(bytes, LinkAddress(start));
}

TEST(Decoder, PrintsX86AsObjdumpLaysItOut) {
  const auto code = decode("x86_64",
                           "\x48\x89\xd8"s        // mov %rbx,%rax
                           "\x83\xc0\x01"s        // add $0x1,%eax
                           "\xf2\x0f\x10\x00"s);  // movsd (%rax),%xmm0
  ASSERT_EQ(code.size(), 3u);
  EXPECT_EQ(code[0].text, "movq   %rbx,%rax");
  EXPECT_EQ(code[1].text, "addl   $0x1,%eax");
  EXPECT_EQ(code[2].text, "movsd  (%rax),%xmm0");
  EXPECT_EQ(code[2].address, LinkAddress(0x1006));
  EXPECT_EQ(code[2].size, 4u);
}

TEST(Decoder, JoinsPrefixesWithTheirInstruction) {
  // objdump: f0 0f b1 17  lock cmpxchg %edx,(%rdi)
  const auto code = decode("x86_64", "\xf0\x0f\xb1\x17\x90"s);
  ASSERT_EQ(code.size(), 2u);
  EXPECT_EQ(code[0].text, "lock cmpxchgl %edx,(%rdi)");
  EXPECT_EQ(code[0].size, 4u);
  EXPECT_EQ(code[1].address, LinkAddress(0x1004));
}

TEST(Decoder, PrintsIntelSyntaxOnRequest) {
  const auto code = decode("x86_64", "\x48\x89\xd8"s, 0x1000, Syntax::intel);
  ASSERT_EQ(code.size(), 1u);
  EXPECT_EQ(code[0].text, "mov    rax,rbx");
}

struct FlowCase {
  const char* what;
  std::string bytes;
  Flow flow;
  std::optional<LinkAddress> target;
};

void expect_flows(const std::string& architecture, const std::vector<FlowCase>& cases) {
  for (const FlowCase& one : cases) {
    SCOPED_TRACE(one.what);
    const auto code = decode(architecture, one.bytes);
    ASSERT_EQ(code.size(), 1u);
    EXPECT_EQ(code[0].flow, one.flow) << code[0].text;
    EXPECT_EQ(code[0].target, one.target) << code[0].text;
  }
}

TEST(Decoder, KnowsWhereX86ControlGoes) {
  expect_flows("x86_64",
               {
                   {"jne 1000", "\x75\xfe"s, Flow::branch, LinkAddress(0x1000)},
                   {"jmp 1007", "\xeb\x05"s, Flow::jump, LinkAddress(0x1007)},
                   {"call 1105", "\xe8\x00\x01\x00\x00"s, Flow::call, LinkAddress(0x1105)},
                   {"call *%rax", "\xff\xd0"s, Flow::call, std::nullopt},
                   {"call *8(%rax)", "\xff\x50\x08"s, Flow::call, std::nullopt},
                   {"jmp *%rax", "\xff\xe0"s, Flow::indirect_jump, std::nullopt},
                   {"jmp *(%rax)", "\xff\x20"s, Flow::indirect_jump, std::nullopt},
                   {"ret", "\xc3"s, Flow::returns, std::nullopt},
                   {"ud2", "\x0f\x0b"s, Flow::trap, std::nullopt},
                   {"int3", "\xcc"s, Flow::trap, std::nullopt},
                   {"hlt", "\xf4"s, Flow::trap, std::nullopt},
                   {"syscall", "\x0f\x05"s, Flow::next, std::nullopt},
                   {"nop", "\x90"s, Flow::next, std::nullopt},
                   {"rep stos", "\xf3\x48\xab"s, Flow::next, std::nullopt},
               });
}

TEST(Decoder, KnowsWhereArmControlGoes) {
  expect_flows("aarch64",
               {
                   {"b 1008", "\x02\x00\x00\x14"s, Flow::jump, LinkAddress(0x1008)},
                   {"b.ne 1008", "\x41\x00\x00\x54"s, Flow::branch, LinkAddress(0x1008)},
                   {"cbz x0, 1008", "\x40\x00\x00\xb4"s, Flow::branch, LinkAddress(0x1008)},
                   {"tbz w0, #0, 1008", "\x40\x00\x00\x36"s, Flow::branch, LinkAddress(0x1008)},
                   {"bl 1008", "\x02\x00\x00\x94"s, Flow::call, LinkAddress(0x1008)},
                   {"blr x1", "\x20\x00\x3f\xd6"s, Flow::call, std::nullopt},
                   {"br x1", "\x20\x00\x1f\xd6"s, Flow::indirect_jump, std::nullopt},
                   {"ret", "\xc0\x03\x5f\xd6"s, Flow::returns, std::nullopt},
                   {"brk #1", "\x20\x00\x20\xd4"s, Flow::trap, std::nullopt},
                   {"udf #0", "\x00\x00\x00\x00"s, Flow::trap, std::nullopt},
                   {"svc #0", "\x01\x00\x00\xd4"s, Flow::next, std::nullopt},
               });
}

TEST(Decoder, WritesTargetsAsPlainHexadecimal) {
  EXPECT_EQ(decode("x86_64", "\x75\xfe"s)[0].text, "jne    1000");
  EXPECT_EQ(decode("x86_64", "\xe8\x00\x01\x00\x00"s)[0].text, "callq  1105");
  EXPECT_EQ(decode("aarch64", "\x40\x00\x00\xb4"s)[0].text, "cbz    x0,1008");
}

TEST(Decoder, ComputesAddressesRelativeToTheInstruction) {
  // mov 0x10(%rip),%rax: 0x1000 + 7 bytes + 0x10
  EXPECT_EQ(decode("x86_64", "\x48\x8b\x05\x10\x00\x00\x00"s)[0].data_address, LinkAddress(0x1017));
}

TEST(Decoder, CallsUndecodableBytesBad) {
  // 06 is no instruction in 64-bit mode; the last one is cut short.
  const auto code = decode("x86_64", "\x06\x90\x48\x8b"s);
  ASSERT_EQ(code.size(), 4u);
  EXPECT_EQ(code[0].text, "(bad)");
  EXPECT_EQ(code[0].size, 1u);
  EXPECT_TRUE(code[0].bad);
  EXPECT_FALSE(code[1].bad);
  EXPECT_TRUE(code[2].bad);
  const auto arm = decode("aarch64", "\xff\xff\xff\xff\x1f\x20\x03\xd5\x1f"s);
  ASSERT_EQ(arm.size(), 3u);
  EXPECT_EQ(arm[0].text, "(bad)");
  EXPECT_EQ(arm[0].size, 4u);
  EXPECT_EQ(arm[1].text, "nop");
  EXPECT_EQ(arm[2].size, 1u);  // a cut word at the end
}

TEST(Decoder, GivesEveryByteOfRandomCodeToOneInstruction) {
  std::mt19937 random(7);
  for (const char* architecture : {"x86_64", "aarch64"}) {
    std::string bytes(20'001, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    uint64_t next = 0x1000;
    for (const Instruction& instruction : decode(architecture, bytes)) {
      ASSERT_EQ(instruction.address, LinkAddress(next));
      ASSERT_GT(instruction.size, 0u);
      next += instruction.size;
    }
    EXPECT_EQ(next, 0x1000 + bytes.size());
  }
}

TEST(Decoder, KnowsTheSameFlowWithoutTexts) {
  std::mt19937 random(11);
  std::string bytes(20'000, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (const char* architecture : {"x86_64", "aarch64"}) {
    Result<Decoder> decoder = Decoder::make(architecture);
    ASSERT_TRUE(decoder.has_value());
    const auto with_text = decoder->decode(bytes, LinkAddress(0x1000));
    const auto without = decoder->decode(bytes, LinkAddress(0x1000), Detail::flow);
    ASSERT_EQ(with_text.size(), without.size());
    for (size_t i = 0; i < without.size(); ++i) {
      ASSERT_EQ(with_text[i].address, without[i].address);
      ASSERT_EQ(with_text[i].size, without[i].size);
      ASSERT_EQ(with_text[i].flow, without[i].flow);
      ASSERT_EQ(with_text[i].target, without[i].target);
    }
  }
}

TEST(Decoder, RefusesArchitecturesItDoesNotKnow) {
  const Result<Decoder> decoder = Decoder::make("s390x");
  ASSERT_FALSE(decoder);
  EXPECT_NE(decoder.error().message.find("s390x"), std::string::npos);
}

}  // namespace
}  // namespace culprit
