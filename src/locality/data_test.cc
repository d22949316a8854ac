#include "locality/data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "locality/member_heat.h"
#include "locality/object_fields.h"
#include "locality/test_locality.h"

namespace culprit {
namespace {

/// Line 11 accesses a heap object that mill.c:14 (offset 0x223) allocated, line 12 a variable.
struct MadeData : MadeLocality {
  MadeData() {
    Profile& p = test.profile;
    test.facts[kMill].sources[0].lines[5] = "  rows[n] = malloc(n);";  // mill.c:14
    p.objects.resize(4);
    p.objects[1].kind = ObjectKind::heap;
    p.stacks = {{StackId(), at(0x223)}};
    p.objects[1].calls = StackId(0u);
    p.objects[1].blocks = 10;
    p.objects[1].total_bytes = 240;
    p.objects[2].kind = ObjectKind::global;
    p.objects[2].name = p.strings.intern("table");
    p.objects[2].size_bytes = 4096;
    p.objects[2].site = {kMill, FileOffset(0x900)};
    add_member("key", 0);
    add_member("value", 8);
    p.access_offsets = {{ContextId(0u), at(0x214), ObjectId(2u), 8, 16, 0, 3}};
    p.objects[3].kind = ObjectKind::field;
    p.objects[3].name = p.strings.intern("weight");
    p.objects[3].parent = ObjectId(2u);
    p.histograms[0].objects = {ObjectId(1u), ObjectId(2u)};
    p.tenures[0].object = ObjectId(1u);
    p.tenures[1].object = ObjectId(2u);
    p.tenures[2].object = ObjectId(3u);
    for (Edge& edge : p.edges) edge.object = edge.from == at(0x210) ? ObjectId(1u) : ObjectId(2u);
  }
  /// Adds a member to the type of the table's elements, which have two.
  void add_member(const char* name, uint64_t offset) {
    ImageFacts& facts = test.facts[kMill];
    facts.fields.push_back({FileOffset(0x900), false, facts.strings.intern("row"), 16,
                            facts.strings.intern(name), facts.strings.intern("long"), offset, 8});
  }
  Result<DataReport> make_data_report(const DataOptions& options = {}) {
    return make_data(test.profile, test.lookup(), options);
  }
};

TEST(Data, ObjectsHottestFirstAndAllOfThem) {
  MadeData made;
  const auto report = made.make_data_report();
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->rows.size(), 3u);
  EXPECT_EQ(report->rows[0].name.name, "table");
  EXPECT_EQ(report->rows[0].use.levels[0].lines, 200u);
  EXPECT_EQ(report->rows[1].use.accesses, 800u);
  EXPECT_EQ(report->rows[2].name.name, "weight");
  EXPECT_EQ(report->totals.accesses, 1000u);
  EXPECT_EQ(report->totals.levels[0].lines, 300u);
}

// 40,000 and 160,000 cycles were measured where the model has 4,000 and 6,000: all of them waits
// here.
TEST(Data, CostsAreSharesOfAMeasuredRun) {
  MadeData made;
  made.test.profile.events[4].name = made.test.profile.strings.intern("instructions");
  made.add_measured(40, 160);
  const auto report = made.make_data_report();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_DOUBLE_EQ(report->measured_cycles, 200'000);
  // grind has 20 measured cycles for each; the branches of this profile go round no loop of it.
  EXPECT_DOUBLE_EQ(report->events.value_of(report->rows[0].use).value, 6000 * 20);
  EXPECT_DOUBLE_EQ(report->events.value_of(report->totals).value, 200'000);
  const std::string text = print_data(made.test.profile, *report, Format::text, {});
  EXPECT_NE(text.find("120 k  60.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("of the 200 k measured cycles those in which it waited for data, 100 %"),
            std::string::npos)
      << text;
}

TEST(Data, AnAllocationIsNamedByItsStatement) {
  MadeData made;
  const auto report = made.make_data_report();
  EXPECT_EQ(report->rows[1].name.name, "rows[n] mill.c:14");
  EXPECT_EQ(report->rows[1].name.place, "mill.c:14");
  EXPECT_EQ(report->rows[1].name.kept_in, "rows[n]");
  EXPECT_EQ(report->rows[1].name.blocks, 10u);
  EXPECT_EQ(report->rows[1].name.kind, "heap");
}

TEST(Data, WhatAFunctionCallsItsResultMeanwhileIsNoName) {
  MadeData made;
  made.test.facts[kMill].sources[0].lines[5] = "  node = malloc(n);";
  const auto report = made.make_data_report();
  EXPECT_EQ(report->rows[1].name.name, "grind mill.c:14");
  EXPECT_EQ(report->rows[1].name.kept_in, "node");
  made.test.facts[kMill].sources[0].lines[5] = "  table = malloc(n);";  // a global variable
  EXPECT_EQ(made.make_data_report()->rows[1].name.name, "table mill.c:14");
}

TEST(Data, TheCallerThatKeepsTheResultTellsWhoseBlocksTheyAre) {
  MadeData made;
  Profile& p = made.test.profile;
  std::vector<std::string>& lines = made.test.facts[kMill].sources[0].lines;
  lines[5] = "  node = malloc(n);";
  const auto name_by = [&](const char* caller) {
    lines[2] = caller;  // mill.c:11
    p.stacks = {{StackId(), at(0x210)}, {StackId(0u), at(0x223)}};
    p.objects[1].calls = StackId(1u);
    return made.make_data_report()->rows[1].name.name;
  };
  EXPECT_EQ(name_by("  for (k = 0; k < 3; ++k) lists[k] = (List*)grind(k);"),
            "lists[k]: grind mill.c:14");
  EXPECT_EQ(name_by("  lists[k] = sort(grind(k));"), "grind mill.c:14");
  EXPECT_EQ(name_by("  grind(k);"), "grind mill.c:14");
  name_by("  lists[k] = grind(k);");
  EXPECT_TRUE(made.make_data_report({.object = "lists[k]"}));
  EXPECT_TRUE(made.make_data_report({.object = "grind*"}));
}

TEST(Data, OneObjectHasItsStatementsFieldsAndEdges) {
  MadeData made;
  const auto report = made.make_data_report({.object = "table"});
  ASSERT_TRUE(report) << report.error().message;
  const ObjectPart& part = *report->part;
  ASSERT_EQ(part.statements.size(), 1u);
  EXPECT_EQ(part.statements[0].spot.label(), "mill.c:12");
  EXPECT_EQ(part.name.type, "row");
  ASSERT_EQ(part.fields.size(), 2u);
  EXPECT_EQ(part.fields[0].name.name, "key");
  EXPECT_EQ(part.fields[0].use.accesses, 0u);
  EXPECT_EQ(part.fields[1].name.place, "offset 8");
  EXPECT_EQ(part.fields[1].use.accesses, 200u);
  EXPECT_EQ(part.fields[1].use.levels[0].lines, 200u);
  // mill.c:11 brought 40 of the object's lines in again.
  ASSERT_EQ(part.levels[0].refetched_by.size(), 1u);
  EXPECT_EQ(part.levels[0].refetched_by[0].spot.label(), "mill.c:11");
  const auto by_place = made.make_data_report({.object = "mill.c:14"});
  ASSERT_TRUE(by_place);
  EXPECT_EQ(by_place->part->name.kept_in, "rows[n]");
  const auto wrong = made.make_data_report({.object = "tabel"});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("did you mean table"), std::string::npos);
}

/// The table of MadeData on the stack of a function, and another variable of it.
struct MadeStack : MadeData {
  MadeStack() {
    Profile& p = test.profile;
    p.objects[2].kind = ObjectKind::stack;
    p.objects[2].name = p.strings.intern("table\tmill.c:10");
    p.objects[1] = p.objects[2];
    p.objects[1].name = p.strings.intern("cells\tmill.c:9");
    p.access_offsets.push_back({ContextId(0u), at(0x210), ObjectId(1u), 4, 12, 0, 3});
    ImageFacts& facts = test.facts[kMill];
    const StringId table = facts.strings.intern("table\tmill.c:10");
    const StringId cells = facts.strings.intern("cells\tmill.c:9");
    for (FieldFact& field : facts.fields) field.variable = table;
    for (const uint64_t offset : {0U, 4U, 8U}) {
      const std::string name = "part" + std::to_string(offset);
      facts.fields.push_back({FileOffset(0x900), false, facts.strings.intern("cell"), 12,
                              facts.strings.intern(name), facts.strings.intern("int"), offset, 4,
                              cells});
    }
  }
  /// The type of one, and its members with their accesses.
  std::string describe(const char* object) {
    const auto report = make_data_report({.object = object});
    if (!report || !report->part) return "none";
    std::string text = report->part->name.type;
    for (const ObjectRow& field : report->part->fields) {
      text += fmt::format(" {} {}", field.name.name, field.use.accesses);
    }
    return text;
  }
};

TEST(Data, VariablesOfOneFunctionHaveTheirOwnMembers) {
  MadeStack made;
  EXPECT_EQ(made.describe("table"), "row key 0 value 200");
  EXPECT_EQ(made.describe("cells"), "cell part0 0 part4 800 part8 0");
}

TEST(Data, AVariableOfTheStackHasNoMembersThatAreNotItsOwn) {
  MadeStack small;
  small.test.profile.objects[2].size_bytes = 15;  // its elements would have 16
  EXPECT_EQ(small.describe("table"), "");
  MadeStack renamed;
  renamed.test.profile.objects[2].name = renamed.test.profile.strings.intern("table\tmill.c:11");
  EXPECT_EQ(renamed.describe("table"), "");
  MadeStack global;  // at the place of a function: facts of a damaged file
  global.test.profile.objects[2].kind = ObjectKind::global;
  EXPECT_EQ(global.describe("table*"), "");
  MadeStack damaged;
  for (FieldFact& field : damaged.test.facts[kMill].fields) field.size_bytes = UINT64_MAX;
  EXPECT_EQ(damaged.describe("table"), "");
  MadeStack unnamed;
  for (FieldFact& field : unnamed.test.facts[kMill].fields) field.variable = StringId(77777u);
  EXPECT_EQ(unnamed.describe("table"), "");
}

TEST(Data, AnAccessThatIsWiderThanAMemberIsOfAllThatItReaches) {
  MadeData made;
  Profile& p = made.test.profile;
  Event bytes;
  bytes.name = p.strings.intern("load-bytes");
  bytes.engine = p.strings.intern("simulate");
  bytes.unit = Unit::bytes;
  bytes.provenance = Provenance::counted;
  p.events.push_back(bytes);
  // mill.c:12 loads 16 B at a time, at the beginning of each element.
  p.histograms[0].columns.push_back({EventId(p.events.size() - 1), {0, 0}, {6400, 200 * 16}, {}});
  p.access_offsets[0].offset = 0;
  const auto report = made.make_data_report({.object = "table"});
  ASSERT_TRUE(report) << report.error().message;
  const std::vector<ObjectRow>& fields = report->part->fields;
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].name.name, "key");
  EXPECT_EQ(fields[0].use.accesses, 0u);
  EXPECT_EQ(fields[1].name.name, "key to value");
  EXPECT_EQ(fields[1].name.size_bytes, 16u);
  EXPECT_EQ(fields[1].use.accesses, 200u);
  EXPECT_EQ(fields[2].name.name, "value");
}

TEST(Data, FortranAllocatesSeveralAtOnce) {
  MadeData made;
  Profile& p = made.test.profile;
  made.test.facts[kMill].sources[0].lines[5] = "  allocate(a(n,n), x(n))";  // mill.c:14
  p.objects.push_back(p.objects[1]);
  p.stacks.push_back({StackId(), at(0x228)});
  p.objects[4].calls = StackId(1u);
  p.histograms[0].objects[1] = ObjectId(4u);
  const auto first = made.make_data_report({.object = "a"});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->part->name.name, "a mill.c:14");
  EXPECT_EQ(first->part->use.accesses, 800u);
  const auto second = made.make_data_report({.object = "x"});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->part->name.name, "x mill.c:14");
  EXPECT_EQ(second->part->use.accesses, 200u);
}

TEST(Data, ALineMayDeclareSeveralContainers) {
  MadeData made;
  Profile& p = made.test.profile;
  made.test.facts[kMill].sources[0].lines[5] = "  std::vector<int> hits(4), misses(4);";  // :14
  p.objects.push_back(p.objects[1]);
  p.stacks.push_back({StackId(), at(0x228)});
  p.objects[4].calls = StackId(1u);
  p.histograms[0].objects[1] = ObjectId(4u);
  const auto first = made.make_data_report({.object = "hits"});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->part->name.name, "hits mill.c:14");
  EXPECT_EQ(first->part->use.accesses, 800u);
  const auto second = made.make_data_report({.object = "misses"});
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->part->use.accesses, 200u);
  // A third call: which one is whose the source does not tell.
  p.objects.push_back(p.objects[1]);
  p.stacks.push_back({StackId(), at(0x22a)});
  p.objects[5].calls = StackId(2u);
  const auto unclear = made.make_data_report({.object = "mill.c:14"});
  ASSERT_TRUE(unclear) << unclear.error().message;
  EXPECT_EQ(unclear->part->name.kept_in, "hits or misses");
  EXPECT_EQ(unclear->part->name.name, "grind mill.c:14");
}

TEST(Data, SaysThatNothingWasRecorded) {
  MadeLocality made;
  const auto none = make_data(made.test.profile, made.test.lookup(), {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--locality all"), std::string::npos);
}

TEST(Data, ObjectsWithoutLocality) {
  MadeData made;
  made.test.profile.environment.clear();
  made.test.profile.tenures.clear();
  const auto report = made.make_data_report();
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->has_locality);
  EXPECT_EQ(report->rows.size(), 2u);
  for (const Format format : {Format::text, Format::json, Format::csv}) {
    EXPECT_FALSE(print_data(made.test.profile, *report, format, {}).empty());
  }
}

TEST(Data, SurvivesADamagedProfile) {
  MadeData made;
  Profile& p = made.test.profile;
  p.objects[2].kind = ObjectKind::field;
  p.objects[2].parent = ObjectId(3u);  // a circle
  p.stacks[0].location.image = ImageId(77u);
  p.objects[2].calls = StackId(99u);
  p.tenures.push_back(p.tenures[0]);
  p.tenures.back().object = ObjectId(4711u);
  p.histograms[0].objects[0] = kNoAccess;
  const auto report = made.make_data_report();
  ASSERT_TRUE(report);
  for (const Format format : {Format::text, Format::json, Format::csv}) {
    EXPECT_FALSE(print_data(p, *report, format, {}).empty());
  }
  EXPECT_TRUE(made.make_data_report({.object = "*"}));
}

/// The table's elements, read at 0x214, where the program waits 900 cycles for them, and as a whole
/// at 0x210, where it waits as many as are told.
MemberHeat heat_of(uint64_t waits_of_copies) {
  MadeData made;
  Profile& p = made.test.profile;
  p.histograms[0].objects = {ObjectId(2u), ObjectId(2u)};
  p.histograms[0].columns[1].value = {waits_of_copies, 900};
  p.access_offsets.push_back({ContextId(0u), at(0x210), ObjectId(2u), 0, 8, 0, 3});
  p.branch_counts = {{ContextId(0u), at(0x212), at(0x210), 100, 0, 0, 0, 0},
                     {ContextId(0u), at(0x216), at(0x214), 100, 0, 0, 0, 0}};
  const FactsLookup facts = made.test.lookup();
  CodeIndex code(p, facts);
  CodeLoops loops(code);
  return compute_member_heat(code, loops, ObjectId(2u), find_use_events(p, false), 64);
}

TEST(MemberHeat, IsOfWhereTheProgramWaitsHoweverOftenElementsAreCopied) {
  // 800 accesses copy elements, 200 read `value`: of the waits nine of ten are of these.
  const MemberHeat heat = heat_of(100);
  EXPECT_EQ(heat.hot, "value");
  EXPECT_EQ(heat.hot_bytes, 8u);
  EXPECT_EQ(heat.cold_bytes, 8u);
  EXPECT_EQ(heat.padding_bytes, 0u);
}

TEST(MemberHeat, IsNotKnownWhereMostWaitsAreOfCopies) {
  EXPECT_EQ(heat_of(1000).hot, "");
}

FieldFact member(uint64_t offset, uint64_t size_bytes) {
  FieldFact fact;
  fact.element_bytes = 48;
  fact.offset = offset;
  fact.size_bytes = size_bytes;
  return fact;
}

// struct { double at[3]; node* next; int mark; (4 B of padding) id[8]; }, 48 B
TEST(ObjectFields, AMemberIsFoundThroughArraysOfStructs) {
  const std::vector<FieldFact> members = {member(0, 24), member(24, 8), member(32, 4),
                                          member(36, 4), member(40, 8)};
  EXPECT_EQ(find_member_at(members, {24, 0}), 1u);
  EXPECT_EQ(find_member_at(members, {24, 48}), 1u);
  EXPECT_EQ(find_member_at(members, {24 + 48 * 7, 96}), 1u);
  EXPECT_EQ(find_member_at(members, {35, 48}), 2u);
  EXPECT_EQ(find_member_at(members, {38, 0}), 3u);  // padding
  // Every other double of the three is not only theirs: 16 apart means 0, 16, 32 of an element.
  EXPECT_EQ(find_member_at(members, {0, 16}), members.size());
  EXPECT_EQ(find_member_at(members, {0, 8}), members.size());
  EXPECT_EQ(find_member_at(members, {0, 24}), members.size());  // 0 and 24
}

TEST(ObjectFields, PlacesOfOneElementAreInAMemberThatHoldsTheLowestAndTheHighest) {
  const std::vector<FieldFact> members = {member(0, 24), member(24, 8), member(32, 4),
                                          member(36, 4), member(40, 8)};
  EXPECT_EQ(find_member_at(members, {0, 8, 16}), 0u);              // at[0] to at[2]
  EXPECT_EQ(find_member_at(members, {48 + 41, 1, 6}), 4u);         // id[1] to id[7] of the second
  EXPECT_EQ(find_member_at(members, {0, 8, 24}), members.size());  // at[0] to next
  // 40 and 48: of two elements, and by what is known of them in several members.
  EXPECT_EQ(find_member_at(members, {40, 8, 8}), members.size());
  EXPECT_EQ(find_member_at(members, {24, 48, 96}), 1u);  // `next` of three
}

}  // namespace
}  // namespace culprit
