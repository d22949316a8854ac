#include "pipeline/loops.h"

#include <gtest/gtest.h>
#include <string>

#include "attribute/disassembly.h"
#include "pipeline/test_code.h"

namespace culprit {
namespace {

using namespace std::string_literals;
using Numbers = std::vector<size_t>;

Disassembly decode(const std::string& bytes) {
  const TestCode test = make_code("x86_64", bytes, {});
  Result<Disassembly> code =
      Disassembler(test.facts).disassemble(FileOffset(0), FileOffset(bytes.size()));
  EXPECT_TRUE(code);
  return *std::move(code);
}

// Two loops, one in the other, with a way around in the inner one:
//   0 inc; 2: test; 4 je 8; 6 inc; 8: dec; a jne 2; c dec; e jne 0; 10 ret
const std::string kNested = "\xff\xc0\x85\xc0\x74\x02\xff\xc0\xff\xc9\x75\xf6\xff\xca\x75\xf0\xc3"s;
// Blocks: [inc] [test je] [inc] [dec jne] [dec jne] [ret]

TEST(Loops, OfSeveralTheInnermost) {
  const Disassembly code = decode(kNested);
  ASSERT_EQ(code.blocks.size(), 6u);
  const std::vector<double> runs{10, 100, 90, 100, 10, 1};
  const std::vector<Loop> loops = find_innermost_loops(code, runs);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].blocks, (Numbers{1, 2, 3}));
  EXPECT_EQ(loops[0].instructions, (Numbers{1, 2, 3, 4, 5}));
  EXPECT_FALSE(loops[0].has_call);
}

TEST(Loops, GoTheUsualWay) {
  const Disassembly code = decode(kNested);
  const std::vector<double> runs{10, 100, 20, 100, 10, 1};
  const std::vector<Loop> loops = find_innermost_loops(code, runs);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].blocks, (Numbers{1, 3}));
}

TEST(Loops, WhatNeverRanIsNone) {
  const Disassembly code = decode(kNested);
  EXPECT_TRUE(find_innermost_loops(code, std::vector<double>(6)).empty());
}

TEST(Loops, CallsAreNotFollowed) {
  const Disassembly code = decode("\xe8\0\0\0\0\xff\xc9\x75\xf7\xc3"s);  // call; dec; jne 0; ret
  const std::vector<Loop> loops = find_innermost_loops(code, std::vector<double>(2, 5));
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_TRUE(loops[0].has_call);
}

}  // namespace
}  // namespace culprit
