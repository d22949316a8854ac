#include <gtest/gtest.h>

#include "attribute/test_profile.h"
#include "exports/callgrind_names.h"
#include "exports/exports.h"

namespace culprit {

namespace {

std::string exported(const TestProfile& test) {
  const auto text = export_callgrind(test.profile, test.lookup());
  EXPECT_TRUE(text);
  return text ? *text : "";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Callgrind, CostsByInstructionAndLineInlinedCodeByItsFile) {
  const std::string text = exported(make_test_profile());
  expect_part(text,
              "fn=(1) grind\n"
              "0x1210 11 400000000\n"
              "0x1214 12 100000000\n"
              "fi=(2) /src/scale.h\n"
              "0x1220 5 150000000\n");
  expect_part(text, "positions: instr line\nevents: cpu_clock\nsummary: 1000000000\n");
  EXPECT_TRUE(text.ends_with("\ntotals: 1000000000\n"));
}

TEST(Callgrind, CallsHaveTheInclusiveCostOfTheirStacks) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  // 550 samples have grind, called at 0x1300 (line 40); it is entered at line 10.
  expect_part(exported(test),
              "calls=550 0x1200 10\n"
              "0x1300 40 550000000\n");
}

TEST(Callgrind, RecursionCountsAStackOnce) {
  TestProfile test = make_test_profile();
  const Location grind{ImageId(0u), FileOffset(0x210)};
  test.profile.stacks = {{StackId(), grind}, {StackId(0u), grind}, {StackId(1u), grind}};
  test.profile.stack_counts = {{ContextId(0u), StackId(2u), {EventId(0u), 250, 250'000'000, 0}}};
  expect_part(exported(test), "calls=250 0x1200 10\n0x1210 11 250000000\n");
}

TEST(Callgrind, BranchRecordsTellCallsButNotTheirCost) {
  TestProfile test = make_test_profile();
  add_test_branches(test);
  expect_part(exported(test), "calls=1 0x1200 10\n0x1308 40\n");
}

TEST(Callgrind, HostileNamesStayOnTheirLine) {
  TestProfile test = make_test_profile();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[0].name = facts.strings.intern(std::string("f\nfn=(9) g\0\x1b[", 13));
  test.profile.events[0].name = test.profile.strings.intern("9 my event\n");
  const std::string text = exported(test);
  expect_part(text, "fn=(1) f?fn=(9) g??[\n");
  expect_part(text, "events: _9_my_event_\n");
}

TEST(Callgrind, ColumnsOfOneNameAreToldApart) {
  Profile profile;
  Event event;
  for (const char* name : {"a b", "a-b", "a_b_2"}) {
    event.name = profile.strings.intern(name);
    profile.events.push_back(event);
  }
  EXPECT_EQ(callgrind_event_names(profile), (std::vector<std::string>{"a_b", "a_b_2", "a_b_2_2"}));
}

TEST(Callgrind, AProfileWithoutEventsIsAnError) {
  EXPECT_FALSE(export_callgrind(Profile{}, {}));
}

}  // namespace

}  // namespace culprit
