#include "events/event_syntax.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

Result<std::vector<GroupWords>> parse(const std::string& spec) {
  return parse_event_syntax(std::span(&spec, 1));
}

std::string error_of(const std::string& spec) {
  const auto groups = parse(spec);
  return groups ? "" : groups.error().message;
}

TEST(EventSyntax, CommasSeparateOutsideBracesAndSlashes) {
  const auto groups = parse("cycles:u,{instructions,cpu/event=0xc0,umask=1/k}:pp,r1c0");
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_EQ(groups->size(), 3u);
  EXPECT_FALSE((*groups)[0].is_braced);
  EXPECT_EQ((*groups)[0].members[0].words, (std::vector<std::string>{"cycles", "u"}));
  EXPECT_TRUE((*groups)[1].is_braced);
  EXPECT_EQ((*groups)[1].modifiers, "pp");
  ASSERT_EQ((*groups)[1].members.size(), 2u);
  const EventWords& event = (*groups)[1].members[1];
  EXPECT_EQ(event.text, "cpu/event=0xc0,umask=1/k");
  EXPECT_EQ(event.words, std::vector<std::string>{"cpu"});
  ASSERT_EQ(event.terms.size(), 2u);
  EXPECT_EQ(event.terms[1].key, "umask");
  EXPECT_EQ(event.terms[1].value, "1");
  EXPECT_EQ(event.modifiers, "k");
}

TEST(EventSyntax, ModifiersAfterASlashMayHaveAColon) {
  EXPECT_EQ((*parse("cpu/r1/:up"))[0].members[0].modifiers, "up");
  EXPECT_EQ((*parse("cpu/r1/up"))[0].members[0].modifiers, "up");
  EXPECT_EQ((*parse("cpu//"))[0].members[0].terms.size(), 0u);
}

TEST(EventSyntax, QuotesProtectCommasInATerm) {
  const auto groups = parse("cpu/event=1,name='a, b/c'/u");
  ASSERT_TRUE(groups) << groups.error().message;
  EXPECT_EQ((*groups)[0].members[0].terms[1].value, "a, b/c");
  EXPECT_EQ((*groups)[0].members[0].modifiers, "u");
}

TEST(EventSyntax, ABreakpointsSlashOpensNothing) {
  const auto groups = parse("mem:0x1000/8:rw:u,cycles");
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_EQ((*groups)[0].members[0].words,
            (std::vector<std::string>{"mem", "0x1000/8", "rw", "u"}));
}

TEST(EventSyntax, SaysWhatIsWrongAndWhere) {
  EXPECT_NE(error_of("{cycles,instructions").find("this brace is not closed, at '{cycles"),
            std::string::npos);
  EXPECT_NE(error_of("cpu/event=1").find("this slash is not closed, at '/event=1'"),
            std::string::npos);
  EXPECT_NE(error_of("{a,{b}}").find("a group cannot stand in a group"), std::string::npos);
  EXPECT_NE(error_of("cpu/name='a/").find("a quote is not closed"), std::string::npos);
  EXPECT_NE(error_of("cpu/umask=/").find("term 'umask' lacks its value"), std::string::npos);
  EXPECT_NE(error_of("cpu/a,/").find("a term is missing"), std::string::npos);
  EXPECT_NE(error_of("/event=1/").find("PMU's name is missing"), std::string::npos);
  EXPECT_NE(error_of("cpu/a/b/").find("this slash opens nothing"), std::string::npos);
  EXPECT_NE(error_of("cycles}").find("a comma is missing"), std::string::npos);
  EXPECT_NE(error_of("{a}u").find("a comma is missing"), std::string::npos);
  EXPECT_NE(error_of("{a}:").find("modifiers are missing"), std::string::npos);
  for (const char* spec : {"", ",", "cycles,", ",cycles", "a,,b", "{}", "{a,}"}) {
    EXPECT_NE(error_of(spec).find("an event is missing here"), std::string::npos) << spec;
  }
}

TEST(EventSyntax, RefusesMoreThanAnybodyTypes) {
  EXPECT_NE(error_of(std::string(100'000, 'a')).find("bytes long"), std::string::npos);
  std::string many = "a";
  for (int i = 0; i < 2000; ++i) many += ",a";
  EXPECT_NE(error_of(many).find("more than 1024 events"), std::string::npos);
  EXPECT_NE(error_of("{" + many + "}").find("more than 1024 events"), std::string::npos);
  EXPECT_NE(error_of("cpu/" + many + "/").find("more than 1024 events"), std::string::npos);
}

TEST(EventSyntax, NumbersAreDecimalOrHexadecimal) {
  EXPECT_EQ(parse_event_number("10"), 10u);
  EXPECT_EQ(parse_event_number("010"), 10u);  // as perf: no octal
  EXPECT_EQ(parse_event_number("0x1F"), 0x1fu);
  EXPECT_EQ(parse_event_number("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "0x", "1k", "-1", "+1", " 1", "18446744073709551616", "0xg"}) {
    EXPECT_EQ(parse_event_number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace culprit
