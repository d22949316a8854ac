#include "attribute/attribution.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace culprit {
namespace {

// outer() of a.c at [100, 200) inlines f at line 12, which inlines g at line 52
// and h at line 54 of f.h:
//
//   offset   100   110   120   140   150   170   180   200
//   inlined    -     f     g     f     h     f     -
ImageFacts example() {
  ImageFacts facts;
  const auto name = [&](const char* text) { return facts.strings.intern(text); };
  facts.functions = {{FileOffset(0x100), FileOffset(0x200), name("outer"), {}, name("a.c"), 10},
                     {FileOffset(0x300), FileOffset(0x340), name("plain"), {}, {}, 0}};
  facts.lines = {{FileOffset(0x100), name("a.c"), 11, 0}, {FileOffset(0x110), name("f.h"), 51, 0},
                 {FileOffset(0x120), name("g.h"), 71, 0}, {FileOffset(0x140), name("f.h"), 53, 0},
                 {FileOffset(0x150), name("h.h"), 91, 0}, {FileOffset(0x170), name("f.h"), 55, 0},
                 {FileOffset(0x180), name("a.c"), 13, 0}, {FileOffset(0x200), name(""), 0, 0}};
  facts.inlines = {{FileOffset(0x110), FileOffset(0x180), 0, name("f"), name("a.c"), 12},
                   {FileOffset(0x120), FileOffset(0x140), 1, name("g"), name("f.h"), 52},
                   {FileOffset(0x150), FileOffset(0x170), 1, name("h"), name("f.h"), 54}};
  return facts;
}

/// "h h.h:91 < f f.h:54 < outer a.c:12"
std::string tell(const ImageFacts& facts, const Attribution& told) {
  std::string text;
  for (const Frame& frame : told.frames) {
    if (!text.empty()) text += " < ";
    text += facts.strings.text(frame.function) + " " + facts.strings.text(frame.file) + ":" +
            std::to_string(frame.line);
  }
  return text;
}

TEST(Attributor, GivesEachOuterFrameTheLineOfItsCall) {
  const ImageFacts facts = example();
  Attributor attributor(facts);
  const auto at = [&](uint64_t offset) {
    return tell(facts, attributor.attribute(FileOffset(offset)));
  };
  EXPECT_EQ(at(0x100), "outer a.c:11");
  EXPECT_EQ(at(0x110), "f f.h:51 < outer a.c:12");
  EXPECT_EQ(at(0x13f), "g g.h:71 < f f.h:52 < outer a.c:12");
  EXPECT_EQ(at(0x140), "f f.h:53 < outer a.c:12");
  EXPECT_EQ(at(0x150), "h h.h:91 < f f.h:54 < outer a.c:12");
  EXPECT_EQ(at(0x17f), "f f.h:55 < outer a.c:12");
  EXPECT_EQ(at(0x180), "outer a.c:13");
}

TEST(Attributor, MarksInlinedFramesOnly) {
  const ImageFacts facts = example();
  const Attribution told = Attributor(facts).attribute(FileOffset(0x120));
  ASSERT_EQ(told.frames.size(), 3u);
  EXPECT_TRUE(told.frames[0].inlined);
  EXPECT_TRUE(told.frames[1].inlined);
  EXPECT_FALSE(told.frames[2].inlined);
  EXPECT_EQ(told.function, &facts.functions[0]);
}

TEST(Attributor, KnowsNothingOutsideFunctionsAndLines) {
  const ImageFacts facts = example();
  Attributor attributor(facts);
  for (const uint64_t offset : {0x0u, 0xffu, 0x200u, 0x2ffu, 0x340u, 0x9999u}) {
    const Attribution told = attributor.attribute(FileOffset(offset));
    EXPECT_EQ(told.function, nullptr) << offset;
    EXPECT_TRUE(told.frames.empty()) << offset;
  }
}

TEST(Attributor, NamesFunctionsWithoutLines) {
  const ImageFacts facts = example();
  EXPECT_EQ(tell(facts, Attributor(facts).attribute(FileOffset(0x33f))), "plain :0");
}

TEST(Attributor, TellsLinesWithoutFunctions) {
  ImageFacts facts = example();
  facts.functions.clear();
  facts.inlines.clear();
  EXPECT_EQ(tell(facts, Attributor(facts).attribute(FileOffset(0x150))), " h.h:91");
}

TEST(Attributor, FindsTheBlockThatHoldsAnOffset) {
  ImageFacts facts = example();
  facts.blocks = {{FileOffset(0x100), 0x10}, {FileOffset(0x110), 4}, {FileOffset(0x300), 0x40}};
  Attributor attributor(facts);
  EXPECT_EQ(attributor.find_block(FileOffset(0xff)), nullptr);
  EXPECT_EQ(attributor.find_block(FileOffset(0x100)), &facts.blocks[0]);
  EXPECT_EQ(attributor.find_block(FileOffset(0x10f)), &facts.blocks[0]);
  EXPECT_EQ(attributor.find_block(FileOffset(0x113)), &facts.blocks[1]);
  EXPECT_EQ(attributor.find_block(FileOffset(0x114)), nullptr) << "a gap";
  EXPECT_EQ(attributor.find_block(FileOffset(0x33f)), &facts.blocks[2]);
  EXPECT_EQ(attributor.find_block(FileOffset(0x340)), nullptr);
}

TEST(Attributor, KnowsNothingFromEmptyFacts) {
  const ImageFacts facts;
  EXPECT_EQ(Attributor(facts).find(FileOffset(0)), CodePlace{});
}

/// The plain reading of the contract: the rows that contain the address, in order.
std::vector<uint32_t> containing_rows(const ImageFacts& facts, FileOffset offset) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < facts.inlines.size(); ++row) {
    if (facts.inlines[row].begin <= offset && offset < facts.inlines[row].end) rows.push_back(row);
  }
  return rows;
}

void add_nested(ImageFacts& facts, std::mt19937& random, uint64_t begin, uint64_t end,
                uint32_t depth) {
  while (begin < end && depth < 6) {
    const uint64_t from = begin + random() % 8;
    const uint64_t to = std::min<uint64_t>(end, from + random() % 40);
    if (from >= to) return;
    facts.inlines.push_back(
        {FileOffset(from), FileOffset(to), depth, StringId(0u), StringId(0u), depth});
    add_nested(facts, random, from, to, depth + 1);
    begin = to;
  }
}

TEST(Attributor, FindsTheSameInlineStackAsAScanInAnyOrderOfQuestions) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    ImageFacts facts;
    add_nested(facts, random, 0, 2000, 0);
    std::vector<uint64_t> offsets(2100);
    for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = i;
    if (round % 2 == 1) std::shuffle(offsets.begin(), offsets.end(), random);
    Attributor attributor(facts);
    for (const uint64_t offset : offsets) {
      std::vector<uint32_t> expected = containing_rows(facts, FileOffset(offset));
      std::reverse(expected.begin(), expected.end());
      std::vector<uint32_t> found;
      for (uint32_t row = attributor.find(FileOffset(offset)).inlined; row != CodePlace::kNone;
           row = attributor.inlined_into(row)) {
        found.push_back(row);
      }
      ASSERT_EQ(found, expected) << "offset " << offset;
    }
  }
}

TEST(SystemSource, IsWhatCompilersAndPackagesBring) {
  for (const char* path : {"/usr/include/c++/12/bits/atomic_base.h", "/rustc/90c5418/library/a.rs",
                           "/rust/deps/hashbrown-0.16.1/src/map.rs",
                           "/usr/lib/gcc/x86_64-linux-gnu/12/include/avxintrin.h"}) {
    EXPECT_TRUE(is_system_source(path)) << path;
  }
  for (const char* path : {"", "main.c", "/home/me/usr/include/list.h", "/usr/src/mine/a.c"}) {
    EXPECT_FALSE(is_system_source(path)) << path;
  }
}

TEST(Attributor, SurvivesFactsThatBreakEveryPromise) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    ImageFacts facts;
    for (int i = 0; i < 60; ++i) {
      const auto offset = [&] {
        return FileOffset(random() % 7 == 0 ? ~uint64_t{0} - random() % 3 : random() % 100);
      };
      facts.functions.push_back({offset(), offset(), StringId(random()), {}, {}, 0});
      facts.lines.push_back({offset(), StringId(random()), static_cast<uint32_t>(random()), 0});
      facts.inlines.push_back(
          {offset(), offset(), static_cast<uint32_t>(random() % 4), StringId(random()), {}, 0});
      facts.blocks.push_back({offset(), static_cast<uint32_t>(random())});
    }
    Attributor attributor(facts);
    for (uint64_t offset = 0; offset < 101; ++offset) {
      const Attribution told = attributor.attribute(FileOffset(offset));
      const BlockFact* block = attributor.find_block(FileOffset(offset));
      ASSERT_TRUE(block == nullptr || FileOffset(offset) - block->begin < block->size_bytes);
      ASSERT_LE(told.frames.size(), 61u);  // every row at most once, and the function
    }
  }
}

}  // namespace
}  // namespace culprit
