#include "base/names.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(IsCalled, NamesAreFoundWithoutTheirTrimmings) {
  const std::string name = "(anonymous namespace)::count(std::vector<int, std::allocator<int> >&)";
  EXPECT_TRUE(is_called(name, name));
  EXPECT_TRUE(is_called(name, "count"));
  EXPECT_TRUE(is_called("shop::Shelf<int, double>::put(int)", "Shelf<..>::put"));
  EXPECT_TRUE(is_called("shop::Shelf<int, double>::put(int)", "shop::Shelf<int, double>::put"));
  EXPECT_TRUE(is_called("shop::Shelf<int, double>::put(int)", "put"));
  EXPECT_FALSE(is_called("shop::Shelf<int, double>::put(int)", "Shelf"));
  EXPECT_FALSE(is_called("discount", "count"));
}

TEST(WithoutNumber, IsTheNameOfAVariableInItsFunction) {
  EXPECT_EQ(without_number("table.3"), "table");
  EXPECT_EQ(without_number("a.1234"), "a");
  EXPECT_EQ(without_number("a.b.0"), "a.b");
  for (const char* whole : {"table", "table.", ".3", "table.x3", "main.table", "", "."}) {
    EXPECT_EQ(without_number(whole), whole);
  }
}

TEST(ShortenName, GivesUpParametersThenTemplateArgumentsThenQualifiers) {
  const std::string name = "ns::vector<int, ns::allocator<int> >::push_back(int const&)";
  EXPECT_EQ(shorten_name(name, 80), name);
  EXPECT_EQ(shorten_name(name, 50), "ns::vector<int, ns::allocator<int> >::push_back");
  EXPECT_EQ(shorten_name(name, 30), "ns::vector<..>::push_back");
  EXPECT_EQ(shorten_name(name, 24), "..::push_back");
  EXPECT_EQ(shorten_name(name, 12), "push_back");
  EXPECT_EQ(shorten_name(name, 8), "pus..ack");
}

TEST(ShortenName, KeepsOperatorsWhole) {
  EXPECT_EQ(shorten_name("a::operator<<(std::ostream&, int)", 14), "a::operator<<");
  EXPECT_EQ(shorten_name("a<b, c, d>::operator()(int)", 20), "a<..>::operator()");
  EXPECT_EQ(shorten_name("a<b, c, d>::operator->()", 20), "a<..>::operator->");
  EXPECT_EQ(shorten_name("bool operator< <int, int>(int, int)", 24), "bool operator< <..>");
}

TEST(ShortenName, KeepsTheLastPartOfAQualifiedName) {
  const std::string name = "std::_Rb_tree<int, int, std::less<int> >::_M_lower_bound";
  EXPECT_EQ(shorten_name(name, 40), "std::_Rb_tree<..>::_M_lower_bound");
  EXPECT_EQ(shorten_name(name, 32), "..::_Rb_tree<..>::_M_lower_bound");
  EXPECT_EQ(shorten_name(name, 20), "..::_M_lower_bound");
  EXPECT_EQ(shorten_name(name, 14), "_M_lower_bound");
  EXPECT_EQ(shorten_name("ns::find_or_add<std::less<int> >", 13), "find_or_add");
}

TEST(PrettyName, DropsReturnTypesAndInlineNamespaces) {
  EXPECT_EQ(pretty_name("void std::vector<int>::_M_insert<int>(int&&)"),
            "std::vector<int>::_M_insert<int>(int&&)");
  EXPECT_EQ(pretty_name("std::pair<int, int> const& ns::f<int>(std::pair<int, int>)"),
            "ns::f<int>(std::pair<int, int>)");
  EXPECT_EQ(pretty_name("std::__cxx11::basic_string<char, std::char_traits<char>, "
                        "std::allocator<char> >::_M_append(char const*, unsigned long)"),
            "std::string::_M_append(char const*, unsigned long)");
  EXPECT_EQ(pretty_name("std::__cxx11::basic_string<..>::size"), "std::basic_string<..>::size");
}

TEST(PrettyName, KeepsBlanksThatAreNotBehindAReturnType) {
  for (const char* name :
       {"operator new(unsigned long)", "A::operator bool() const", "main",
        "(anonymous namespace)::run(int)", "f(int) [clone .cold]", "f [clone .cold]",
        "ns::f()::{lambda(int, char)#1}::operator()(int, char) const", "", "operator<<(A&, int)"}) {
    EXPECT_EQ(pretty_name(name), name);
  }
}

TEST(ShortenName, NeverExceedsTheWidthNorCutsCharacters) {
  const std::string name = "größe::übermäßig<ünïcödé>::Ω(int)";
  for (size_t width = 1; width < 40; ++width) {
    const std::string cut = shorten_name(name, width);
    EXPECT_LE(count_columns(cut), width);
  }
}

TEST(ShortenName, MakesHostileNamesSafe) {
  EXPECT_EQ(shorten_name("evil\x1b[2Jname\n", 40), "evil?[2Jname?");
}

TEST(WithoutParameters, LeavesNamesThatHaveBracketsOfTheirOwn) {
  EXPECT_EQ(without_parameters("f(int)"), "f");
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("(anonymous namespace)::f(int) const"), "(anonymous namespace)::f");
  EXPECT_EQ(without_parameters("f(int)::{lambda(char)#1}::operator()(char) const"),
            "f(int)::{lambda(char)#1}::operator()");
  EXPECT_EQ(without_parameters("std::function<int (char)>::call(char)"),
            "std::function<int (char)>::call");
  EXPECT_EQ(without_parameters("<alloc::vec::Vec<T> as core::Drop>::drop"),
            "<alloc::vec::Vec<T> as core::Drop>::drop");
}

TEST(BaseName, KeepsNamesInBrackets) {
  EXPECT_EQ(base_name("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(base_name("[kernel]"), "[kernel]");
  EXPECT_EQ(base_name("plain"), "plain");
}

TEST(ShellWord, QuotesWhatTheShellWouldRead) {
  EXPECT_EQ(shell_word("main"), "main");
  EXPECT_EQ(shell_word("ns::f"), "ns::f");
  EXPECT_EQ(shell_word("f<int>"), "'f<int>'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ExpandTabs, GoesToEveryEighthColumn) {
  EXPECT_EQ(expand_tabs("\ta\tb"), "        a       b");
  EXPECT_EQ(expand_tabs("1234567\tx\r"), "1234567 x");
}

TEST(Wrap, BreaksBetweenWordsAndIndents) {
  EXPECT_EQ(wrap("one two three four", 10, 2), "one two\n  three\n  four");
  EXPECT_EQ(wrap("abcdefghijklmnop", 8, 2), "ab..op");
}

}  // namespace
}  // namespace culprit
