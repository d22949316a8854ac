#include "model/string_table.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(StringTable, NamesEachTextOnce) {
  StringTable table;
  EXPECT_EQ(table.intern(""), StringId(0u));
  const StringId a = table.intern("a");
  EXPECT_EQ(table.intern(std::string("a")), a);
  EXPECT_NE(table.intern(std::string_view("a\0", 2)), a);
  EXPECT_EQ(table.text(a), "a");
  EXPECT_EQ(table.size(), 3u);
}

TEST(StringTable, AnIdThatIsNotThereIsEmpty) {
  const StringTable table;
  EXPECT_EQ(table.text(StringId()), "");
  EXPECT_EQ(table.text(StringId(99u)), "");
}

TEST(StringTable, ViewsStayValidWhileItGrowsIsCopiedAndMoved) {
  StringTable table;
  for (int i = 0; i < 10'000; ++i) table.intern("text " + std::to_string(i));
  StringTable copy = table;
  StringTable moved = std::move(table);
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = "text " + std::to_string(i);
    ASSERT_EQ(copy.intern(text), StringId(static_cast<uint32_t>(i + 1)));
    ASSERT_EQ(moved.intern(text), copy.intern(text));
  }
  EXPECT_EQ(copy.size(), 10'001u);
}

TEST(StringTable, TextsThatWereAppendedAreFoundLikeOthers) {
  StringTable table;
  table.append("a");
  table.append("b");
  table.append("a");
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table.text(StringId(3u)), "a");
  StringTable copy = table;
  for (StringTable* const one : {&table, &copy}) {
    EXPECT_EQ(one->intern("b"), StringId(2u));
    EXPECT_EQ(one->intern("a"), StringId(1u));
    EXPECT_EQ(one->intern("c"), StringId(4u));
    one->append("d");
    EXPECT_EQ(one->intern("d"), StringId(5u));
    EXPECT_EQ(one->intern(""), StringId(0u));
  }
}

}  // namespace
}  // namespace culprit
