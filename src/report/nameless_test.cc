#include "report/nameless.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

// test_profile.h: 80 of 1,000 samples are in libc, which has no symbols there.
TEST(DescribeNameless, NamesTheFilesThatLackSymbols) {
  const TestProfile test = make_test_profile();
  const FactsLookup facts = test.lookup();
  CodeIndex code(test.profile, facts);
  const std::string text = describe_nameless(code, 0);
  EXPECT_TRUE(text.starts_with(
      "8.0 % of cpu-clock is code without symbols, in libc.so.6 (8.0 %): PACKAGE-dbgsym"))
      << text;
}

TEST(DescribeNameless, CountsNamesThatWereMadeUp) {
  TestProfile test = make_test_profile();
  ImageFacts& libc = test.facts[ImageId(1u)];
  const auto name = [&](const char* text) {
    libc.functions = {{FileOffset(0), FileOffset(0x100), libc.strings.intern(text), {}, {}, 0}};
    const FactsLookup facts = test.lookup();
    CodeIndex code(test.profile, facts);
    return describe_nameless(code, 0);
  };
  EXPECT_NE(name("sub_5040"), "");
  EXPECT_EQ(name("sub_matrix"), "");
  EXPECT_EQ(name("malloc"), "");
}

TEST(DescribeNameless, SaysNothingOfLittle) {
  TestProfile test = make_test_profile();
  for (Histogram& histogram : test.profile.histograms) {
    if (histogram.image == ImageId(1u)) histogram.columns[0].value = {45'000'000};
  }
  const FactsLookup facts = test.lookup();
  CodeIndex code(test.profile, facts);
  EXPECT_EQ(describe_nameless(code, 0), "");  // 45 of 965
}

}  // namespace
}  // namespace culprit
