#include "attribute/disassembly.h"

#include <gtest/gtest.h>
#include <string>

namespace culprit {
namespace {

using namespace std::string_literals;

// File offset 0x200 is linked at 0x1200: test %eax,%eax; je 1205; inc %eax; ret
ImageFacts example_code() {
  ImageFacts facts;
  facts.architecture = "x86_64";
  facts.segments = {{FileOffset(0x100), 0x1000, LinkAddress(0x1100)}};
  facts.code = {{FileOffset(0x200), "\x85\xc0\x74\x02\xff\xc0\xc3"s}};
  return facts;
}

TEST(Disassembler, GivesLinkAddressesAndBlocks) {
  const ImageFacts facts = example_code();
  const Result<Disassembly> code =
      Disassembler(facts).disassemble(FileOffset(0x200), FileOffset(0x207));
  ASSERT_TRUE(code);
  ASSERT_EQ(code->instructions.size(), 4u);
  EXPECT_EQ(code->instructions[1].text, "je     1206");
  EXPECT_EQ(code->instructions[3].address, LinkAddress(0x1206));
  ASSERT_EQ(code->blocks.size(), 3u);
  EXPECT_EQ(code->blocks[2].begin, LinkAddress(0x1206));
  EXPECT_EQ(code->to_offset(LinkAddress(0x1206)), FileOffset(0x206));
  EXPECT_EQ(code->to_link(FileOffset(0x204)), LinkAddress(0x1204));
}

TEST(Disassembler, DecodesTheStretchesItHas) {
  ImageFacts facts = example_code();
  facts.code = {{FileOffset(0x206), "\xc3"s}, {FileOffset(0x1f0), std::string(18, '\x90')}};
  const Result<Disassembly> code =
      Disassembler(facts).disassemble(FileOffset(0x200), FileOffset(0x207));
  ASSERT_TRUE(code);
  ASSERT_EQ(code->instructions.size(), 3u);  // nop nop (gap) ret
  EXPECT_EQ(code->instructions[1].address, LinkAddress(0x1201));
  EXPECT_EQ(code->instructions[2].address, LinkAddress(0x1206));
  EXPECT_EQ(code->blocks.size(), 2u);
}

TEST(Disassembler, SaysWhatIsMissing) {
  ImageFacts facts = example_code();
  EXPECT_FALSE(Disassembler(facts).disassemble(FileOffset(0x300), FileOffset(0x310)));
  facts.architecture = "pdp11";
  const Result<Disassembly> code =
      Disassembler(facts).disassemble(FileOffset(0x200), FileOffset(0x207));
  ASSERT_FALSE(code);
  EXPECT_NE(code.error().message.find("pdp11"), std::string::npos);
}

}  // namespace
}  // namespace culprit
