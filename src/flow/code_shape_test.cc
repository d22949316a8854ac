#include "flow/code_shape.h"

#include <gtest/gtest.h>
#include <string>

#include "flow/flow_graph.h"
#include "model/image_facts.h"

namespace culprit {
namespace {

using namespace std::string_literals;

std::optional<uint64_t> shape_of(const std::string& bytes, uint64_t address = 0x1000) {
  ImageFacts facts;
  facts.architecture = "x86_64";
  facts.segments = {{FileOffset(0), bytes.size(), LinkAddress(address)}};
  facts.code = {{FileOffset(0), bytes}};
  const Result<Disassembly> code =
      Disassembler(facts).disassemble(FileOffset(0), FileOffset(bytes.size()));
  EXPECT_TRUE(code);
  return hash_code_shape(*code, make_flow_graph(*code));
}

const std::string kAdds = "\x48\x01\xf7\x48\x01\xf7\x48\x01\xf7\x48\x01\xf7\x48\x01\xf7"s;  // 5 add
const std::string kXors = "\x48\x31\xf7\x48\x31\xf7\x48\x31\xf7\x48\x31\xf7\x48\x31\xf7"s;  // 5 xor
const std::string kTest = "\x85\xff"s;  // test %edi,%edi
const std::string kReturn = "\xc3"s;

// test; je over; 5 adds; ret; over: 5 xors; ret
const std::string kFirst = kTest + "\x74\x10" + kAdds + kReturn + kXors + kReturn;

TEST(CodeShape, IsOfTheCodeAndNotOfItsPlace) {
  ASSERT_TRUE(shape_of(kFirst));
  EXPECT_EQ(shape_of(kFirst), shape_of(kFirst, 0x7000));
}

// The blocks lie the other way round, and the branch is jne.
TEST(CodeShape, IsNotOfTheOrderOfBlocks) {
  const std::string other = kTest + "\x75\x10" + kXors + kReturn + kAdds + kReturn;
  EXPECT_EQ(shape_of(kFirst), shape_of(other));
}

TEST(CodeShape, DiffersWithInstructionsAndWays) {
  const std::string all_adds = kTest + "\x74\x10" + kAdds + kReturn + kAdds + kReturn;
  const std::string falls_through = kTest + "\x74\x0f" + kAdds + kXors + kReturn + kReturn;
  EXPECT_NE(shape_of(kFirst), shape_of(all_adds));
  EXPECT_NE(shape_of(kFirst), shape_of(falls_through));
}

TEST(CodeShape, OfSmallFunctionsAndOfNoCodeIsNone) {
  EXPECT_FALSE(shape_of(kTest + kReturn));
  EXPECT_FALSE(shape_of(kAdds + kAdds + kAdds + "\x06"));  // undefined in 64-bit mode
}

}  // namespace
}  // namespace culprit
