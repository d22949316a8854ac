#include "simulate/objects/ranges.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace culprit::objects {
namespace {

TEST(Ranges, AreWrittenInFourWays) {
  EXPECT_EQ(*parse_range("a"), (Range{.name = "a", .file = "", .symbol = "a"}));
  EXPECT_EQ(*parse_range("rows=libm.so:table"),
            (Range{.name = "rows", .file = "libm.so", .symbol = "table"}));
  EXPECT_EQ(
      *parse_range("buf=0x5000+4096"),
      (Range{.name = "buf", .file = "", .symbol = "", .address = 0x5000, .size_bytes = 4096}));
  EXPECT_EQ(parse_range("t=ns::table")->symbol, "ns::table");
  EXPECT_EQ(*parse_range("rows=src/quake.c:31"),
            (Range{.name = "rows", .file = "src/quake.c", .symbol = "", .line = 31}));
  EXPECT_EQ(parse_range("quake.c:31")->name, "quake.c:31");
  EXPECT_FALSE(parse_range("quake.c:31")->is_by_address());
}

TEST(Ranges, OfTheEnvironmentStandSideBySide) {
  const Result<std::vector<Range>> ranges = parse_ranges("a;rows=quake.c:31;");
  ASSERT_TRUE(ranges);
  EXPECT_EQ(*ranges, (std::vector<Range>{*parse_range("a"), *parse_range("rows=quake.c:31")}));
  EXPECT_TRUE(parse_ranges("")->empty());
  EXPECT_NE(parse_ranges("a;=b").error().message.find("'=b' is no range"), std::string::npos);
}

TEST(Ranges, SayWhatIsWrong) {
  for (const char* text : {"", "=a", "a=", "x=0x5000", "x=0x5000+0", "x=0xffffffffffffffff+9",
                           "x=lib.so:", "x=:y", "a\tb", "x=a.c:0", "x=a.c:99999999999"}) {
    const Result<Range> range = parse_range(text);
    ASSERT_FALSE(range) << text;
    EXPECT_NE(range.error().message.find("is no range"), std::string::npos);
  }
}

TEST(Ranges, KnowTheirFileByItsEnd) {
  const Range range = *parse_range("x=lib.so:a");
  EXPECT_TRUE(range.is_of("/usr/lib/lib.so", "a"));
  EXPECT_FALSE(range.is_of("/usr/lib/mylib.so", "a"));
  EXPECT_FALSE(range.is_of("/usr/lib/lib.so", "b"));
  EXPECT_FALSE(range.is_of("so", "a"));
}

TEST(Ranges, ComeBackFromTheirFile) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  Range rows = *parse_range("rows=quake.c:31");
  rows.program = "/bin/quake";
  rows.code = {{0x1010, 0x1020}, {0x1100, 0x1108}};
  const std::vector<Range> ranges{*parse_range("a"), *parse_range("buf=16+32"), rows};
  const std::string path = ranges_file_path(folder->path());
  EXPECT_TRUE(read_ranges_file(path)->empty());
  ASSERT_TRUE(write_ranges_file(path, ranges));
  EXPECT_EQ(*read_ranges_file(path), ranges);
}

}  // namespace
}  // namespace culprit::objects
