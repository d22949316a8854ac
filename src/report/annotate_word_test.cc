#include "report/annotate_word.h"

#include <gtest/gtest.h>

#include "report/row_filter.h"

namespace culprit {
namespace {

ReportTable table_of(const std::vector<std::string>& functions) {
  ReportTable table;
  for (const std::string& function : functions) {
    table.rows.emplace_back().function = function;
  }
  return table;
}

constexpr const char* kFind =
    "std::_Hashtable<int, std::pair<int const, int>, std::allocator<int> >::_M_find_before_node("
    "unsigned long, int const&, unsigned long) const";

TEST(AnnotateWord, IsTheNameWhereThereIsRoom) {
  EXPECT_EQ(make_annotate_word(table_of({"main"}), "main", 50), "main");
  EXPECT_EQ(make_annotate_word(table_of({"a::f(int)"}), "a::f(int)", 50), "a::f");
  EXPECT_EQ(make_annotate_word(table_of({}), "a<int>::f(int)", 50), "'a<int>::f'");
}

TEST(AnnotateWord, IsTheLastPartOfALongName) {
  EXPECT_EQ(make_annotate_word(table_of({kFind, "main"}), kFind, 50), "'*::_M_find_before_node'");
}

TEST(AnnotateWord, TakesMorePartsWhereTheLastIsNotAlone) {
  EXPECT_EQ(make_annotate_word(table_of({kFind, "other::_M_find_before_node(int)"}), kFind, 50),
            "'*::_Hashtable<*>::_M_find_before_node'" + std::string());
  // Without a pattern of its own the name says itself, however long it is.
  const std::string other = "std::_Hashtable<char>::_M_find_before_node()";
  EXPECT_EQ(make_annotate_word(table_of({kFind, other}), kFind, 50),
            "'std::_Hashtable<int, std::pair<int const, int>, std::allocator<int> >::"
            "_M_find_before_node'");
}

TEST(AnnotateWord, MatchesWhatNamesMayHold) {
  for (const std::string name :
       {"ns::(anonymous namespace)::run(int)", "ns::Set<int>::operator[](int)",
        "ns::Set<int>::operator<(int)", "ns::Set<int>::operator()(int) const",
        "ns::f()::{lambda(int)#1}::operator()(int) const", "ns::it's*odd[1]\\",
        "ns::\xc3\xa9t\xc3\xa9", "ns::tab\there\x1b[2J", "void ns::put<std::pair<int, int> >(int)",
        "ns::A::operator bool()", "a::b", "<", "::", "operator new(unsigned long)"}) {
    std::string word = make_annotate_word(table_of({name}), name, 1);
    for (const char c : word) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << name;
    if (word.starts_with('\'')) word = word.substr(1, word.size() - 2);
    EXPECT_TRUE(matches_function(name, word)) << name << " by " << word;
  }
}

}  // namespace
}  // namespace culprit
