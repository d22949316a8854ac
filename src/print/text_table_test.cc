#include "print/text_table.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

std::string cut(const std::string& cell, size_t width) {
  return cell.substr(0, width);
}

TextColumn number() {
  return {"n", true, nullptr, 2, {"100"}};
}
TextColumn name(const std::string& heading, size_t columns) {
  return {heading, false, cut, 2, {std::string(columns, heading[0])}};
}
std::string row(const std::string& text) {
  const size_t end = text.find('\n');
  return text.substr(end + 1, text.size() - end - 2);
}
std::string of(char c, size_t columns) {
  return std::string(columns, c);
}

TEST(TextTable, GivesAShortColumnWhatItNeedsAndTheLongOneTheRest) {
  // 40 = 3 + 2 + 8 + 2 + 25.
  EXPECT_EQ(row(print_table({number(), name("a", 8), name("b", 90)}, 40)),
            "100  " + of('a', 8) + "  " + of('b', 25));
  EXPECT_EQ(row(print_table({number(), name("a", 90), name("b", 8)}, 40)),
            "100  " + of('a', 25) + "  " + of('b', 8));
}

TEST(TextTable, SharesEquallyBetweenLongColumns) {
  // 40 - 3 - 2 - 2 = 33 for two.
  EXPECT_EQ(row(print_table({number(), name("a", 90), name("b", 90)}, 40)),
            "100  " + of('a', 16) + "  " + of('b', 17));
}

TEST(TextTable, GivesNoMoreThanEnoughWhereRoomIsShort) {
  TextColumn module = name("m", 30);
  module.enough = 10;
  EXPECT_EQ(row(print_table({number(), module, name("b", 90)}, 40)),
            "100  " + of('m', 10) + "  " + of('b', 23));
  EXPECT_EQ(row(print_table({number(), module, name("b", 3)}, 40)),
            "100  " + of('m', 30) + "  bbb");
}

TEST(TextTable, GrowsRatherThanMakeManyNamesUnreadable) {
  EXPECT_EQ(row(print_table({number(), name("a", 90), name("b", 90), name("c", 90)}, 30)),
            "100  " + of('a', 12) + "  " + of('b', 12) + "  " + of('c', 12));
}

}  // namespace
}  // namespace culprit
