#include "simulate/objects/ranges.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace culprit::objects {
namespace {

TEST(Ranges, AreWrittenInThreeWays) {
  EXPECT_EQ(*parse_range("a"), (Range{.name = "a", .file = "", .symbol = "a"}));
  EXPECT_EQ(*parse_range("rows=libm.so:table"),
            (Range{.name = "rows", .file = "libm.so", .symbol = "table"}));
  EXPECT_EQ(
      *parse_range("buf=0x5000+4096"),
      (Range{.name = "buf", .file = "", .symbol = "", .address = 0x5000, .size_bytes = 4096}));
  EXPECT_EQ(parse_range("t=ns::table")->symbol, "ns::table");
}

TEST(Ranges, SayWhatIsWrong) {
  for (const char* text : {"", "=a", "a=", "x=0x5000", "x=0x5000+0", "x=0xffffffffffffffff+9",
                           "x=lib.so:", "x=:y", "a\tb"}) {
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
  const std::vector<Range> ranges{*parse_range("a"), *parse_range("buf=16+32")};
  const std::string path = ranges_file_path(folder->path());
  EXPECT_TRUE(read_ranges_file(path)->empty());
  ASSERT_TRUE(write_ranges_file(path, ranges));
  EXPECT_EQ(*read_ranges_file(path), ranges);
}

}  // namespace
}  // namespace culprit::objects
