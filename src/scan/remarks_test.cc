#include "scan/remarks.h"

#include <gtest/gtest.h>

namespace culprit::scan {
namespace {

// g++ 12.2 -fopt-info-optimized-missed and clang 19.1 -Rpass=loop-vectorize printed these.
constexpr const char* kLog =
    "src/kernel.cc:12:21: optimized: loop vectorized using 16 byte vectors\n"
    "src/kernel.cc:12:21: optimized: loop vectorized using 16 byte vectors\n"
    "/usr/include/c++/12/bits/stl_vector.h:9:3: missed: couldn't vectorize loop\n"
    "src/kernel.cc:20:5: missed: statement clobbers memory: __asm__ __volatile__(\"\");\n"
    "src/kernel.cc:30:3: remark: loop not vectorized [-Rpass-missed=loop-vectorize]\n"
    "   30 |   for (;;) {\n"
    "      |   ^\n";

TEST(Remarks, AreReadFromWhatCompilersPrint) {
  const std::vector<Remark> remarks = parse_remarks(keep_own_remarks(kLog));
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_EQ(remarks[0].file, "kernel.cc");
  EXPECT_EQ(remarks[0].line, 12u);
  EXPECT_EQ(remarks[0].text, "loop vectorized using 16 byte vectors");
  EXPECT_FALSE(remarks[0].is_missed);
  EXPECT_EQ(remarks[1].line, 30u);
  EXPECT_TRUE(remarks[1].is_missed);
}

TEST(Remarks, OfTheHeadOfALoopBelongToItsBody) {
  const std::vector<Remark> remarks = parse_remarks(kLog);
  const auto count = [&](const char* place) { return find_remarks_at(remarks, {place}).size(); };
  EXPECT_EQ(count("kernel.cc:12"), 1u);
  EXPECT_EQ(count("kernel.cc:13"), 1u);
  EXPECT_EQ(count("kernel.cc:11"), 0u);
  EXPECT_EQ(count("other.cc:12"), 0u);
}

TEST(Remarks, OfOtherTextsAreNone) {
  for (const char* text :
       {"", ":", "::::", "a:1", "a:1:", "a:99999999999999999999: missed: x",
        "a:4294967296: missed: x", ":1:1: optimized", "warning: x:1", "a:b:c: remark: d"}) {
    EXPECT_EQ(parse_remarks(text).size(), 0u) << text;
    EXPECT_EQ(keep_own_remarks(text), "") << text;
  }
}

TEST(Remarks, AreAskedForOfCompilersThatGiveThem) {
  EXPECT_EQ(remark_options("g++-12 -m32"), "-fopt-info-optimized-missed");
  EXPECT_EQ(remark_options("/usr/bin/aarch64-linux-gnu-gcc"), "-fopt-info-optimized-missed");
  EXPECT_NE(remark_options("clang++-19").find("-Rpass="), std::string::npos);
  EXPECT_EQ(remark_options("tcc"), "");
}

}  // namespace
}  // namespace culprit::scan
