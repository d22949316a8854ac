// Calls of memcpy, libc's function at 0x40, in the profile of test_profile.h, whose code at 0x300
// is all of /usr/include/vector.h.

#include "why/callers.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

class CallersTest : public ::testing::Test {
 protected:
  CallersTest() {
    ImageFacts& libc = test_.facts[libc_];
    libc.functions = {
        {FileOffset(0x40), FileOffset(0x80), libc.strings.intern("memcpy"), {}, {}, 0}};
    // call 0x40 bytes on; what matters is that they are calls
    ImageFacts& mill = test_.facts[mill_];
    mill.code.push_back({FileOffset(0x300), std::string(8, '\x90') + "\xe8" + std::string(4, '\0') +
                                                std::string(0x33, '\x90')});
    mill.code[0].bytes.replace(4, 5, std::string("\xe8\0\0\0\0", 5));
    for (FunctionFact& function : mill.functions) {
      if (function.begin == FileOffset(0x300)) {
        function.file = mill.strings.intern("/usr/include/vector.h");
      }
    }
  }
  void add(uint64_t from, Location to, uint64_t count) {
    test_.profile.branch_counts.push_back(
        {ContextId(0u), {mill_, FileOffset(from)}, to, count, 0, 0, count, 0});
  }
  std::vector<Caller> find(const std::string& function) {
    const FactsLookup lookup = test_.lookup();
    CodeIndex code(test_.profile, lookup);
    return Callers(code).find(function);
  }

  const ImageId mill_{0u};
  const ImageId libc_{1u};
  TestProfile test_ = make_test_profile();
  const Location memcpy_{libc_, FileOffset(0x40)};
  const Location push_back_{mill_, FileOffset(0x300)};
};

TEST_F(CallersTest, OfHeadersOfTheSystemPassOnWhoCallsThem) {
  add(0x308, memcpy_, 10);
  add(0x204, push_back_, 10);
  const std::vector<Caller> callers = find("memcpy");
  ASSERT_EQ(callers.size(), 1u);
  EXPECT_EQ(callers[0].function, "grind");
  EXPECT_EQ(callers[0].line, "mill.c:10");
  EXPECT_DOUBLE_EQ(callers[0].share, 1);
}

TEST_F(CallersTest, OfHeadersThatNobodyIsKnownToCallAreNamed) {
  add(0x308, memcpy_, 10);
  const std::vector<Caller> callers = find("memcpy");
  ASSERT_EQ(callers.size(), 1u);
  EXPECT_EQ(callers[0].function, kLongName);
}

// It calls itself 99 times for each call from outside, as a sort does.
TEST_F(CallersTest, AreThoseFromOutsideARecursion) {
  add(0x308, push_back_, 990);
  add(0x204, push_back_, 10);
  const std::vector<Caller> callers = find(kLongName);
  ASSERT_EQ(callers.size(), 1u);
  EXPECT_EQ(callers[0].function, "grind");
  EXPECT_DOUBLE_EQ(callers[0].share, 1);
}

TEST_F(CallersTest, OfTheProgramsOwnFunctionsAreNotAskedFor) {
  add(0x308, {mill_, FileOffset(0x200)}, 10);
  EXPECT_TRUE(find("grind").empty());
}

}  // namespace
}  // namespace culprit
