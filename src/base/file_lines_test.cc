#include "base/file_lines.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(FileLines, AreALineOrSeveral) {
  EXPECT_EQ(parse_file_lines("quake.c:512"), (FileLines{"quake.c", 512, 512}));
  EXPECT_EQ(parse_file_lines("src/quake.c:57-63"), (FileLines{"src/quake.c", 57, 63}));
  EXPECT_EQ(parse_file_lines("a:b.c:1"), (FileLines{"a:b.c", 1, 1}));
  const FileLines lines{"quake.c", 57, 63};
  EXPECT_TRUE(lines.hold(57) && lines.hold(63));
  EXPECT_FALSE(lines.hold(56) || lines.hold(64));
}

TEST(FileLines, AreNothingElse) {
  for (const char* words :
       {"", ":", ":5", "smvp", "quake.c", "quake.c:", "quake.c:0", "quake.c:x", "ns::5",
        "quake.c:-5", "quake.c:5-", "quake.c:63-57", "quake.c:1-2-3", "quake.c:4294967296"}) {
    EXPECT_FALSE(parse_file_lines(words)) << words;
  }
}

}  // namespace
}  // namespace culprit
