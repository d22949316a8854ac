#include "base/text.h"

#include <gtest/gtest.h>
#include <limits>

namespace culprit {
namespace {

TEST(FormatSi, KeepsThreeDigits) {
  EXPECT_EQ(format_si(3.35e9), "3.35 G");
  EXPECT_EQ(format_si(999), "999");
  EXPECT_EQ(format_si(12345), "12.3 k");
  EXPECT_EQ(format_si(0), "0");
  EXPECT_EQ(format_si(-12345), "-12.3 k");
}

TEST(FormatSi, RoundingNeverMakesAFourthDigit) {
  EXPECT_EQ(format_si(999.6), "1.00 k");
  EXPECT_EQ(format_si(999.4), "999");
  EXPECT_EQ(format_si(9.996), "10.0");
  EXPECT_EQ(format_si(99.96), "100");
  EXPECT_EQ(format_si(999'499), "999 k");
  EXPECT_EQ(format_si(999'500), "1.00 M");
  EXPECT_EQ(format_si(9'996), "10.0 k");
}

TEST(FormatDuration, PicksTheUnit) {
  EXPECT_EQ(format_duration_ns(1.15e9), "1.15 s");
  EXPECT_EQ(format_duration_ns(250e6), "250 ms");
  EXPECT_EQ(format_duration_ns(13e3), "13.0 us");
  EXPECT_EQ(format_duration_ns(812), "812 ns");
  EXPECT_EQ(format_duration_ns(999'600), "1.00 ms");
  EXPECT_EQ(format_duration_ns(86400e9), "86400 s");
}

TEST(FormatBytes, UsesPowersOfAThousand) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(212'000), "212 kB");
  EXPECT_EQ(format_bytes(999'960), "1.00 MB");
}

TEST(FormatThousands, GroupsByThree) {
  EXPECT_EQ(format_thousands(0), "0");
  EXPECT_EQ(format_thousands(999), "999");
  EXPECT_EQ(format_thousands(24310), "24,310");
  EXPECT_EQ(format_thousands(1'000'000), "1,000,000");
  EXPECT_EQ(format_thousands(std::numeric_limits<uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(MatchesPattern, IsExactWithoutWildcards) {
  EXPECT_TRUE(matches_pattern("main", "main"));
  EXPECT_FALSE(matches_pattern("domain", "main"));
  EXPECT_FALSE(matches_pattern("main", ""));
}

TEST(MatchesPattern, FollowsTheShell) {
  EXPECT_TRUE(matches_pattern("std::sort", "std::*"));
  EXPECT_TRUE(matches_pattern("a/b", "a*b"));
  EXPECT_TRUE(matches_pattern("f1", "f[0-9]"));
  EXPECT_FALSE(matches_pattern("f1", "f?1"));
  EXPECT_TRUE(matches_pattern("x", "*"));
  EXPECT_TRUE(matches_pattern("a*b", "a\\*?"));
  EXPECT_TRUE(matches_pattern("ab", "a\\b*"));
  EXPECT_TRUE(matches_pattern("f]", "f[]]"));
  EXPECT_TRUE(matches_pattern("a", "a*"));
  EXPECT_FALSE(matches_pattern("a", "a*a"));
  EXPECT_FALSE(matches_pattern("std::sort", "*::sorted"));
  EXPECT_FALSE(matches_pattern("std::sort", "sd*"));
}

TEST(ElideMiddle, KeepsBothEnds) {
  EXPECT_EQ(elide_middle("abcdef", 6), "abcdef");
  EXPECT_EQ(elide_middle("abcdefghij", 6), "ab..ij");
  EXPECT_EQ(elide_middle("abcdefghij", 7), "abc..ij");
  EXPECT_EQ(elide_middle("abcdefghij", 2), "..");
  EXPECT_EQ(elide_middle("abcdefghij", 0), "");
}

TEST(Split, GivesEveryField) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Printable, KeepsTextOfAllLanguages) {
  EXPECT_EQ(printable("größe λ 漢字 😀 ~"), "größe λ 漢字 😀 ~");
}

TEST(Printable, DisarmsTheTerminal) {
  EXPECT_EQ(printable("\x1b[31mred\a\n\t\x7f"), "?[31mred????");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m");  // U+009B: CSI in one character
}

// Ill-formed sequences: the Unicode Standard, section 3.9, table 3-7.
TEST(Printable, DisarmsIllFormedUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "??");
  EXPECT_EQ(printable("\xc0\xaf"), "??");            // overlong '/'
  EXPECT_EQ(printable("\xe0\x80\xaf"), "???");       // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // past U+10FFFF
  EXPECT_EQ(printable("\xe6\xbc"), "??");            // cut off
  EXPECT_EQ(printable("\xf0\x9f\x98x"), "???x");
}

TEST(Printable, DisarmsWhatTurnsTextAround) {
  // U+202E and its like let a name look like another ("Trojan Source", CVE-2021-42574).
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a?b");
  EXPECT_EQ(printable("a\xe2\x81\xa6"
                      "b"),
            "a?b");  // U+2066
}

TEST(Printable, DisarmsWhatShowsNothing) {
  EXPECT_EQ(printable("a\u200bb"), "a?b");  // zero width space
  EXPECT_EQ(printable("\ufeffmain"), "?main");
  EXPECT_EQ(printable("a\u2060b"), "a?b");  // word joiner
  EXPECT_EQ(printable("a\u200fb"), "a?b");  // right-to-left mark
  EXPECT_EQ(printable("\u0915\u094d\u200d\u0937"), "\u0915\u094d\u200d\u0937");  // a letter
}

TEST(DisarmFormula, TouchesNamesAndNotNumbers) {
  // https://owasp.org/www-community/attacks/CSV_Injection
  EXPECT_EQ(disarm_formula("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(disarm_formula("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(disarm_formula("-1+cmd|x"), "'-1+cmd|x");
  EXPECT_EQ(disarm_formula("+[Foo bar]"), "'+[Foo bar]");  // Objective-C has such names
  EXPECT_EQ(disarm_formula("-"), "'-");
  EXPECT_EQ(disarm_formula("-1.5e-3"), "-1.5e-3");
  EXPECT_EQ(disarm_formula("+4"), "+4");
  EXPECT_EQ(disarm_formula("main"), "main");
  EXPECT_EQ(disarm_formula("a=b"), "a=b");
  EXPECT_EQ(disarm_formula(""), "");
}

TEST(NearestWord, FindsTypingErrors) {
  const std::vector<std::string> words = {"report", "record", "annotate"};
  EXPECT_EQ(nearest_word("reprot", words), "report");
  EXPECT_EQ(nearest_word("recod", words), "record");
  EXPECT_EQ(nearest_word("zzzzzz", words), "");
  EXPECT_EQ(nearest_word("x", {}), "");
}

}  // namespace
}  // namespace culprit
