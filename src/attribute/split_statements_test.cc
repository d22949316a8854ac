#include "attribute/split_statements.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

using Spans = std::vector<LineSpan>;

Spans split(std::string_view text, SourceSyntax syntax = SourceSyntax::braces) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return split_statements(lines, 1, syntax);
}

TEST(SplitStatements, AStatementGoesOnToItsSemicolon) {
  EXPECT_EQ(split("x = a\n  + b;\ny = c;\nz = f(1,\n\n  2);\n"), (Spans{{1, 2}, {4, 6}}));
}

TEST(SplitStatements, HeadsAreStatementsOfTheirOwn) {
  EXPECT_EQ(split("for (int i = 0;\n     i < n;\n     ++i)\n  sum += a[i];\n"), (Spans{{1, 3}}));
  EXPECT_EQ(split("if (x)\n  y = 1;\nelse\n  y = 2;\n"), Spans());
  EXPECT_EQ(split("while (x &&\n       y) {\n  f();\n}\n"), (Spans{{1, 2}}));
  EXPECT_EQ(split("static int\nf(int a)\n{\n  return a;\n}\n"), (Spans{{1, 3}}));
}

TEST(SplitStatements, ThoseThatShareALineAreOne) {
  EXPECT_EQ(split("a = 1; b = f(2,\n  3); c =\n 4;\nd = 5;\n"), (Spans{{1, 3}}));
}

TEST(SplitStatements, LabelsEndAtTheirColon) {
  EXPECT_EQ(split("case 1:\n  x = 1;\ndefault:\n  x = y ? 1\n    : 2;\n"), (Spans{{4, 5}}));
}

TEST(SplitStatements, WhatIsNoCodeIsPassedOver) {
  EXPECT_EQ(
      split("x = 1;  // and;\n/* a; b\n c */\n#define F(x) \\\n  g(x)\ny = \"a;{\\\"\" + 1;\n"),
      Spans());
  EXPECT_EQ(split("x = ';'\n  + '{' + '\\'' + 1'000;\ny = 1;\n"), (Spans{{1, 2}}));
  EXPECT_EQ(split("x = R\"t(;\n{)\";)t\"\n  + 1;\ny = 1;\n"), (Spans{{1, 3}}));
  EXPECT_EQ(split("x = 1;\n// why\n\ny = 2;\n"), Spans());
}

// A call with code in its arguments: that code has its own statements.
TEST(SplitStatements, BracesWithinParentheses) {
  EXPECT_EQ(split("each(a, [&](int b) {\n  s += b;\n  t +=\n    b;\n});\n"), (Spans{{3, 4}}));
  EXPECT_EQ(split("fn f<'a>(x: &'a str) {\n  x.g()\n   .h();\n}\n"), (Spans{{2, 3}}));
}

TEST(SplitStatements, TextThatIsCutOrNotBalanced) {
  EXPECT_EQ(split("} ) ;\n}\n x =\n"), Spans());
  EXPECT_EQ(split("x = (1,\n 2\n"), (Spans{{1, 2}}));
  EXPECT_EQ(split("\"\n'\n'\\\nR\"\n"), (Spans{{1, 4}}));
  std::string hidden = "BEGIN(\n";
  for (int i = 0; i < 100; ++i) hidden += "x = 1;\n";
  EXPECT_EQ(split(hidden), Spans());
}

TEST(SplitStatements, FreeFortranContinuesByAnAmpersand) {
  EXPECT_EQ(split("x = a &  ! so\n\n  ! on\n  + b\ny = '&'\nz = 'a!&' &\n& // 'b'\n",
                  SourceSyntax::free_fortran),
            (Spans{{1, 4}, {6, 7}}));
}

TEST(SplitStatements, FixedFortranContinuesByTheSixthColumn) {
  EXPECT_EQ(split("      X = A\nC     so on\n     &  + B\n   10 Y = 1\n     0Z = 2\n     1+ 3\n",
                  SourceSyntax::fixed_fortran),
            (Spans{{1, 3}, {5, 6}}));
}

TEST(SplitStatements, SyntaxIsToldByTheName) {
  EXPECT_EQ(find_syntax("/a.b/quake.c"), SourceSyntax::braces);
  EXPECT_EQ(find_syntax("x.F90"), SourceSyntax::free_fortran);
  EXPECT_EQ(find_syntax("x.f"), SourceSyntax::fixed_fortran);
  EXPECT_EQ(find_syntax("x.py"), SourceSyntax::lines);
  EXPECT_EQ(find_syntax("/a.c/x"), SourceSyntax::lines);
  EXPECT_EQ(split("x = (\n1)\n", SourceSyntax::lines), Spans());
}

}  // namespace
}  // namespace culprit
