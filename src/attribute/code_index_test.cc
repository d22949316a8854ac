#include "attribute/code_index.h"

#include <gtest/gtest.h>
#include <string>

namespace culprit {
namespace {

Image image(Profile& profile, ImageKind kind, std::string_view path) {
  Image row;
  row.kind = kind;
  row.path = profile.strings.intern(path);
  return row;
}

TEST(CodeIndex, NamesModules) {
  Profile profile;
  profile.images = {image(profile, ImageKind::program, "/bin/prog"),
                    image(profile, ImageKind::kernel, "[kernel]"),
                    image(profile, ImageKind::vdso, "[vdso]"),
                    image(profile, ImageKind::jit, "[jit] loop"),
                    image(profile, ImageKind::unknown, kAnonymousPath),
                    image(profile, ImageKind::unknown, "[unknown]"),
                    image(profile, ImageKind::program, "")};
  const FactsLookup no_facts = [](ImageId) { return nullptr; };
  CodeIndex index(profile, no_facts);
  const char* const expected[] = {"/bin/prog",   "[kernel]",  "[vdso]",   "[jit]",
                                  "[anonymous]", "[unknown]", "[unknown]"};
  for (size_t i = 0; i < profile.images.size(); ++i) {
    EXPECT_EQ(index.module(ImageId(i)), expected[i]);
  }
  EXPECT_EQ(index.module(ImageId(99u)), "[unknown]");  // of no image
  EXPECT_EQ(index.unnamed({ImageId(4u), FileOffset(0x1234)}), "[anonymous]");
}

// jmp *%rax; nop; inc %eax; inc %eax; ret, at 0x200 of the file and linked there. The jump was
// recorded to go to the first inc; the ret, of a call by itself, to the second.
TEST(CodeIndex, BlocksBeginWhereRecordedIndirectJumpsWent) {
  using namespace std::string_literals;
  Profile profile;
  profile.images = {image(profile, ImageKind::program, "/bin/prog")};
  const auto at = [](uint64_t offset) { return Location{ImageId(0u), FileOffset(offset)}; };
  profile.branch_counts = {{ContextId(0u), at(0x200), at(0x203), 7, 0, 0, 7, 0},
                           {ContextId(1u), at(0x200), at(0x203), 2, 0, 0, 2, 0},
                           {ContextId(0u), at(0x207), at(0x205), 3, 0, 0, 3, 0}};
  ImageFacts facts;
  facts.architecture = "x86_64";
  facts.segments = {{FileOffset(0x200), 8, LinkAddress(0x200)}};
  facts.code = {{FileOffset(0x200), "\xff\xe0\x90\xff\xc0\xff\xc0\xc3"s}};
  FunctionFact function;
  function.begin = FileOffset(0x200);
  function.end = FileOffset(0x208);
  facts.functions = {function};
  facts.blocks = {{FileOffset(0x200), 2}, {FileOffset(0x202), 6}};  // of the code alone
  const FactsLookup lookup = [&](ImageId) { return &facts; };
  CodeIndex index(profile, lookup);

  const auto branches =
      index.recorded_branches().within(ImageId(0u), FileOffset(0x200), FileOffset(0x203));
  ASSERT_EQ(branches.size(), 1u);
  EXPECT_EQ(branches[0].count, 9);
  const auto code = index.disassemble(ImageId(0u), function.begin, function.end, Detail::flow);
  ASSERT_TRUE(code);
  std::vector<uint64_t> begins;
  for (const Block& block : code->blocks) begins.push_back(block.begin.value);
  EXPECT_EQ(begins, (std::vector<uint64_t>{0x200, 0x202, 0x203}));
  const auto padding = index.find_block(at(0x202));
  const auto inc = index.find_block(at(0x206));
  ASSERT_TRUE(padding && inc);
  EXPECT_EQ(padding->end, FileOffset(0x203));
  EXPECT_EQ(inc->begin, FileOffset(0x203));
  EXPECT_EQ(inc->end, FileOffset(0x208));
}

}  // namespace
}  // namespace culprit
