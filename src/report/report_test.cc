// Shares are worked out by hand from the counts in test_profile.h: 1 of 1,000 samples
// = 0.1 % = 1 ms = 2 M cycles.

#include "report/report.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "attribute/test_profile.h"
#include "base/names.h"
#include "branches/branch_events.h"
#include "flow/flow_events.h"
#include "model/imported.h"
#include "print/golden.h"

namespace culprit {
namespace {

const std::vector<std::vector<RowLevel>> kCombinations = {
    {RowLevel::process},
    {RowLevel::thread},
    {RowLevel::module},
    {RowLevel::function},
    {RowLevel::line},
    {RowLevel::block},
    {RowLevel::instruction},
    {RowLevel::module, RowLevel::function},
    {RowLevel::function, RowLevel::line},
    {RowLevel::process, RowLevel::thread, RowLevel::module, RowLevel::function, RowLevel::line,
     RowLevel::block, RowLevel::instruction}};

ReportTable report_of(const TestProfile& test, const ReportOptions& options) {
  Result<ReportTable> table = make_report(test.profile, test.lookup(), options);
  EXPECT_TRUE(table) << (table ? "" : table.error().message);
  return table ? *std::move(table) : ReportTable{};
}

ReportOptions by(std::vector<RowLevel> levels) {
  ReportOptions options;
  options.by = std::move(levels);
  return options;
}

std::string text_of(const TestProfile& test, ReportOptions options, TextStyle style = {}) {
  options.names_hottest = true;
  return print_report(test.profile, report_of(test, options), Format::text, style);
}

void expect_fits(const std::string& text, size_t width) {
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    EXPECT_LE(count_columns(line), width) << line;
    start = end + 1;
  }
}

/// "grind 600, weigh (inlined) 150": a field and the samples of every row.
template <class Field>
std::string tell(const ReportTable& table, Field field) {
  std::string text;
  for (const ReportRow& row : table.rows) {
    text += (text.empty() ? "" : ", ") + field(row) + " " + std::to_string(row.values[0].samples);
  }
  return text;
}

TEST(Report, TellsInlinedFunctionsFromTheirCallers) {
  const ReportTable table =
      report_of(make_test_profile(), by({RowLevel::module, RowLevel::function}));
  EXPECT_EQ(tell(table,
                 [](const ReportRow& row) {
                   return shorten_name(*row.function, 30) + (row.inlined ? "(i)" : "");
                 }),
            "grind 500, weigh(i) 150, clear_page 120, grind 100, libc.so.6+0x5040 80, "
            "std::vector<..>::push_back 50");
}

/// The test profile with branch records, as events.
TestProfile executed_profile() {
  TestProfile test = make_test_profile();
  add_test_branches(test);
  test.profile.branch_counts[1].cycles = 990;
  test.profile.branch_counts[1].timed = 99;
  Result<Profile> made = with_branch_events(test.profile, test.lookup());
  EXPECT_TRUE(made);
  if (made) test.profile = *std::move(made);
  return test;
}

const DerivedColumn& column_of(const ReportTable& table, const std::string& name) {
  const auto found = std::find_if(table.derived.begin(), table.derived.end(),
                                  [&](const DerivedColumn& one) { return one.name == name; });
  EXPECT_NE(found, table.derived.end()) << name;
  return *found;
}

// By hand, from test_profile.h: 100 rounds of grind's loop, 876 instructions, one call.
TEST(Executions, QuotientsAreComputedFromTheSumsOfTheRow) {
  ReportOptions options = by({RowLevel::module, RowLevel::function});
  options.columns = Columns::executions;
  const ReportTable table = report_of(executed_profile(), options);
  ASSERT_FALSE(table.rows.empty());
  const ReportRow& grind = table.rows[0];
  EXPECT_EQ(*grind.function, "grind");
  // weigh, inlined at 1220, has 100 of them.
  EXPECT_DOUBLE_EQ(grind.values[0].value, 776);
  EXPECT_DOUBLE_EQ(column_of(table, "instructions_per_call").compute(grind.values)->value, 776);
  EXPECT_NEAR(column_of(table, "mispredicted").compute(grind.values)->value, 6.0 / 159, 1e-12);
  // Everything: 876 instructions and 2 calls, not a sum of the rows' quotients.
  EXPECT_DOUBLE_EQ(column_of(table, "instructions_per_call").compute(table.totals)->value, 438);
  EXPECT_NEAR(column_of(table, "mispredicted").compute(table.totals)->value, 6.0 / 161, 1e-12);
}

TEST(Executions, WhatNothingIsKnownOfIsNot0) {
  ReportOptions options = by({RowLevel::module, RowLevel::function});
  options.columns = Columns::executions;
  const ReportTable table = report_of(executed_profile(), options);
  for (const ReportRow& row : table.rows) {
    if (*row.function != "clear_page") continue;
    for (const DerivedColumn& column : table.derived) EXPECT_FALSE(column.compute(row.values));
    return;
  }
  FAIL() << "no row of the kernel";
}

TEST(Executions, NeedBranchRecordsAndHaveNoTrees) {
  const TestProfile plain = make_test_profile();
  ReportOptions options;
  options.columns = Columns::executions;
  EXPECT_FALSE(make_report(plain.profile, plain.lookup(), options));
  const TestProfile executed = executed_profile();
  options.tree = Tree::callers;
  EXPECT_FALSE(make_report(executed.profile, executed.lookup(), options));
}

TEST(Executions, MatchTheirGoldenTexts) {
  const TestProfile test = executed_profile();
  ReportOptions options;
  options.columns = Columns::executions;
  expect_golden("report/golden/executions_function.txt", text_of(test, options));
  options.by = {RowLevel::block};
  expect_golden("report/golden/executions_block.txt", text_of(test, options));
  options.by = {RowLevel::instruction};
  expect_golden("report/golden/executions_instruction.txt", text_of(test, options));
  options.by = {RowLevel::function};
  const ReportTable table = report_of(test, options);
  expect_golden("report/golden/executions_function.json",
                print_report(test.profile, table, Format::json, {}));
  expect_golden("report/golden/executions_function.csv",
                print_report(test.profile, table, Format::csv, {}));
}

TEST(Report, MergesRowsThatTheLevelsCannotTellApart) {
  const ReportTable table = report_of(make_test_profile(), by({RowLevel::function}));
  EXPECT_EQ(*table.rows[0].function, "grind");  // of mill, 500, and of sort, 100
  EXPECT_EQ(table.rows[0].values[0].samples, 600u);
}

TEST(Report, SumsByProcessThreadAndModule) {
  const TestProfile test = make_test_profile();
  EXPECT_EQ(tell(report_of(test, by({RowLevel::process})),
                 [](const ReportRow& row) { return std::to_string(*row.process_id); }),
            "100 900, 101 100");
  EXPECT_EQ(tell(report_of(test, by({RowLevel::thread})),
                 [](const ReportRow& row) { return std::to_string(*row.thread_id); }),
            "100 530, 102 370, 101 100");
  EXPECT_EQ(tell(report_of(test, by({RowLevel::module})),
                 [](const ReportRow& row) { return base_name(*row.module); }),
            "mill 700, [kernel] 120, sort 100, libc.so.6 80");
}

TEST(Report, SumsByLineAndNamesTheFunctionWhereNoLineIsKnown) {
  EXPECT_EQ(tell(report_of(make_test_profile(), by({RowLevel::line})),
                 [](const ReportRow& row) {
                   return row.line ? base_name(*row.file) + ":" + std::to_string(*row.line)
                                   : *row.function;
                 }),
            "mill.c:11 400, scale.h:5 150, clear_page 120, mill.c:12 100, sort.c:3 100, "
            "libc.so.6+0x5040 80, vector.h:40 50");
}

TEST(Report, SumsByBlock) {
  const ReportTable table = report_of(make_test_profile(), by({RowLevel::block}));
  ASSERT_GE(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].address, 0x1210u);
  EXPECT_EQ(table.rows[0].end_address, 0x1216u);
  EXPECT_EQ(table.rows[0].values[0].samples, 500u);
  EXPECT_EQ(table.rows[1].address, 0x1220u);
  EXPECT_EQ(*table.rows[1].function, "grind");
}

// grind() by hand: `for (;;)` from 1210 on goes round by the jump at its end.
TEST(Report, SumsByLoop) {
  const ReportTable table = report_of(make_test_profile(), by({RowLevel::loop}));
  ASSERT_GE(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].address, 0x1210u);
  EXPECT_EQ(*table.rows[0].function, "grind");
  uint64_t samples = 0;
  for (const ReportRow& row : table.rows) samples += row.values[0].samples;
  EXPECT_EQ(samples, table.totals[0].samples);  // what is in no loop has rows, too
}

TEST(Report, FrequencyNeedsMoreThanTime) {
  const TestProfile test = make_test_profile();
  const auto flow = with_flow_events(test.profile, test.lookup());
  ASSERT_FALSE(flow);
  EXPECT_NE(flow.error().message.find("time alone"), std::string::npos);
}

TEST(Report, SumsByStoredBlocksWithoutCode) {
  // The blocks of grind() by hand: nops up to the target of the last jump, the loop's head
  // with its branch, what that skips, the body, and what is never run.
  TestProfile stored = make_test_profile();
  ImageFacts& facts = stored.facts[ImageId(0u)];
  facts.code.clear();
  facts.blocks = {{FileOffset(0x200), 16},
                  {FileOffset(0x210), 6},
                  {FileOffset(0x216), 10},
                  {FileOffset(0x220), 5},
                  {FileOffset(0x225), 11}};
  const ReportTable from_blocks = report_of(stored, by({RowLevel::block}));
  const ReportTable from_code = report_of(make_test_profile(), by({RowLevel::block}));
  ASSERT_EQ(from_blocks.rows.size(), from_code.rows.size());
  for (size_t i = 0; i < from_code.rows.size(); ++i) {
    EXPECT_EQ(from_blocks.rows[i].address, from_code.rows[i].address);
    EXPECT_EQ(from_blocks.rows[i].end_address, from_code.rows[i].end_address);
    EXPECT_EQ(from_blocks.rows[i].function, from_code.rows[i].function);
    EXPECT_EQ(from_blocks.rows[i].values[0].samples, from_code.rows[i].values[0].samples);
  }
  EXPECT_EQ(from_blocks.rows[0].end_address, 0x1216u);
}

TEST(Report, MarksInstructionsAndInlinedCodeAsSubjectToSkid) {
  const TestProfile test = make_test_profile();
  for (const ReportRow& row : report_of(test, by({RowLevel::instruction})).rows) {
    EXPECT_TRUE(row.skid);
  }
  for (const ReportRow& row : report_of(test, by({RowLevel::function})).rows) {
    EXPECT_EQ(row.skid, *row.function == "weigh");
  }
  EXPECT_NE(text_of(test, by({RowLevel::instruction})).find("^ skid:"), std::string::npos);
  EXPECT_EQ(text_of(test, by({RowLevel::module})).find("^ skid:"), std::string::npos);
}

TEST(Report, GivesPoissonErrors) {
  const ReportTable table = report_of(make_test_profile(), by({RowLevel::module}));
  EXPECT_DOUBLE_EQ(table.rows[3].values[0].value, 80e6);
  EXPECT_DOUBLE_EQ(table.rows[3].values[0].error, std::sqrt(80.0) * 1e6);
}

TEST(Report, FiltersWithPercentagesOfEverything) {
  ReportOptions options = by({RowLevel::function});
  options.filters = {{RowLevel::module, "libc*"}, {RowLevel::module, "[kernel]"}};
  const TestProfile test = make_test_profile();
  const ReportTable table = report_of(test, options);
  EXPECT_EQ(table.rows.size(), 2u);  // "[kernel]" is a name before it is a pattern
  options.filters = {{RowLevel::module, "libc*"}, {RowLevel::module, "?kernel?"}};
  const ReportTable both = report_of(test, options);
  EXPECT_EQ(tell(both, [](const ReportRow& row) { return *row.function; }),
            "clear_page 120, libc.so.6+0x5040 80");
  EXPECT_EQ(both.shown[0].samples, 200u);
  EXPECT_EQ(both.totals[0].samples, 1000u);
  const std::string text = print_report(test.profile, both, Format::text, {});
  EXPECT_NE(text.find("12.0 %"), std::string::npos);
  EXPECT_NE(text.find("percentages are of everything"), std::string::npos);
}

TEST(Report, CombinesFiltersOfDifferentLevels) {
  ReportOptions options = by({RowLevel::thread});
  options.filters = {{RowLevel::function, "grind"}, {RowLevel::process, "mill"}};
  EXPECT_EQ(tell(report_of(make_test_profile(), options),
                 [](const ReportRow& row) { return *row.thread; }),
            "mill 350, worker 150");
}

TEST(Report, SumsWhatTheLimitCutsOff) {
  ReportOptions options = by({RowLevel::function});
  options.limit = 2;
  const ReportTable table = report_of(make_test_profile(), options);
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rest_rows, 3u);
  EXPECT_EQ(table.rest[0].samples, 250u);
}

TEST(Report, LeavesSmallRowsOut) {
  ReportOptions options = by({RowLevel::module});
  options.minimum_percent = 11;
  const ReportTable table = report_of(make_test_profile(), options);
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rest[0].samples, 180u);
}

TEST(Report, SortsByColumnsAndRefusesOthers) {
  ReportOptions options = by({RowLevel::module});
  options.sort = "module";
  const TestProfile test = make_test_profile();
  EXPECT_EQ(*report_of(test, options).rows[0].module, "/opt/bin/mill");
  options.sort = "smaples";
  const auto refused = make_report(test.profile, test.lookup(), options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("did you mean samples"), std::string::npos);
}

TEST(Report, ShowsTimeWhereTheClockIsNotCalibrated) {
  TestProfile test = make_test_profile();
  test.profile.machine.clock.reset();
  const std::string text = text_of(test, by({RowLevel::module}));
  EXPECT_NE(text.find("~time"), std::string::npos);
  EXPECT_NE(text.find("700 ms"), std::string::npos);
  EXPECT_EQ(text.find("cycles"), std::string::npos);
}

TEST(Report, PrintsTheLedgerUnderTheTable) {
  TestProfile test = make_test_profile();
  test.profile.ledger.add(ledger::kLostSamples, 12);
  test.profile.ledger.add(ledger::kThrottled, 0);
  test.profile.ledger.note("kernel symbols hidden (kptr_restrict)");
  const std::string text = text_of(test, by({RowLevel::module}));
  EXPECT_NE(text.find("Ledger  12 samples lost (the reader was too slow)\n"
                      "        kernel symbols hidden (kptr_restrict)\n"),
            std::string::npos);
  EXPECT_EQ(text.find("throttled"), std::string::npos);
}

TEST(Report, KnowsNothingWithoutFactsAndSaysWhere) {
  TestProfile test = make_test_profile();
  test.facts.clear();
  const ReportTable table = report_of(test, by({RowLevel::function}));
  EXPECT_EQ(tell(table, [](const ReportRow& row) { return *row.function; }),
            "mill+0x210 400, mill+0x220 150, [kernel] 120, mill+0x214 100, sort+0x210 100, "
            "libc.so.6+0x40 80, mill+0x310 50");
}

TEST(Report, OfNothingSaysSo) {
  const TestProfile test;
  const std::string text = text_of(test, by({RowLevel::function}));
  EXPECT_NE(text.find("culprit doctor"), std::string::npos);
}

// What works on this machine says nothing of a recording that another tool made elsewhere.
TEST(Report, OfAnEmptyImportDoesNotSendToTheDoctor) {
  TestProfile test;
  test.profile.environment[std::string(kImportedFrom)] = "perf.data";
  const std::string text = text_of(test, by({RowLevel::function}));
  EXPECT_EQ(text.find("culprit doctor"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing was sampled"), std::string::npos) << text;
}

TEST(Report, NeverPrintsWhatWouldMoveTheCursor) {
  TestProfile test = make_test_profile();
  test.profile.images[0].path = test.profile.strings.intern("/tmp/\x1b[2J\nevil");
  test.profile.processes[0].name = test.profile.strings.intern("a\rb");
  for (const Format format : {Format::text, Format::json, Format::csv}) {
    const ReportTable table = report_of(test, by({RowLevel::process, RowLevel::module}));
    const std::string text = print_report(test.profile, table, format, {});
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
    EXPECT_NE(text.find("?[2J?evil"), std::string::npos);
  }
}

TEST(Report, QuotesCsvFields) {
  const TestProfile test = make_test_profile();
  ReportOptions options = by({RowLevel::function});
  options.limit = 0;
  const std::string csv = print_report(test.profile, report_of(test, options), Format::csv, {});
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "function,inlined,cpu-clock samples,cpu-clock value,cpu-clock error");
  EXPECT_NE(csv.find("\"" + std::string(kLongName) + "\",0,50,50000000,"), std::string::npos);
}

TEST(Report, FitsItsWidthByEveryLevel) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  for (const size_t width : {size_t{80}, size_t{132}}) {
    for (const auto& levels : kCombinations) {
      const bool has_function = std::count(levels.begin(), levels.end(), RowLevel::function) > 0;
      const size_t names = levels.size() + (has_function ? 0 : 1);  // it may be added
      // Numbers take less than 46 columns; three names or more keep 12 and a gap each.
      const size_t bound = names <= 2 ? width : std::max(width, 46 + 14 * names);
      expect_fits(text_of(test, by(levels), {width, false}), bound);
    }
    for (const Tree tree : {Tree::callers, Tree::callees}) {
      ReportOptions options;
      options.tree = tree;
      expect_fits(text_of(test, options, {width, false}), width);
    }
  }
}

TEST(Report, MatchesItsGoldenTexts) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  expect_golden("report/golden/report_function.txt", text_of(test, by({RowLevel::function})));
  expect_golden("report/golden/report_module_function.txt",
                text_of(test, by({RowLevel::module, RowLevel::function})));
  expect_golden("report/golden/report_line.txt", text_of(test, by({RowLevel::line})));
  expect_golden("report/golden/report_block.txt", text_of(test, by({RowLevel::block})));
  expect_golden("report/golden/report_instruction.txt", text_of(test, by({RowLevel::instruction})));
  expect_golden("report/golden/report_every_level.txt", text_of(test, by(kCombinations.back())));
  ReportOptions options;
  options.tree = Tree::callees;
  expect_golden("report/golden/tree_callees.txt", text_of(test, options));
  expect_golden("report/golden/tree_callees.json",
                print_report(test.profile, report_of(test, options), Format::json, {}));
  options.tree = Tree::callers;
  expect_golden("report/golden/tree_callers.txt", text_of(test, options));
  ReportOptions everything = by(kCombinations.back());
  everything.limit = 3;
  everything.filters = {{RowLevel::process, "mill"}};
  expect_golden("report/golden/report_every_level.json",
                print_report(test.profile, report_of(test, everything), Format::json, {}));
}

TEST(Tree, PartsAreBelowTheirCallers) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  ReportOptions options;
  options.tree = Tree::callees;
  const auto label = [](const ReportRow& row) {
    return std::string(row.depth, '.') + shorten_name(*row.function, 26);
  };
  EXPECT_EQ(tell(report_of(test, options), label),
            "std::vector<..>::push_back 550, .grind 550, ..weigh 150, [no stack] 450");
  options.tree = Tree::callers;
  EXPECT_EQ(tell(report_of(test, options), label),
            "grind 400, .std::vector<..>::push_back 400, weigh 150, .grind 150, "
            "..std::vector<..>::push_back 150, [no stack] 450");
}

// By hand, from add_test_stacks(): main (the long name) has 50 samples of its own and stands above
// 550 of grind's and weigh's; weigh (150) is inlined in grind.
TEST(Inclusive, HoldsWhatWasCalledFromThere) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  ReportOptions options = by({RowLevel::module, RowLevel::function});
  const ReportTable table = report_of(test, options);
  const auto inclusive = [&](const std::string& function) {
    for (const ReportRow& row : table.rows) {
      if (*row.function == function) return row.inclusive.at(0).samples;
    }
    return uint64_t{0};
  };
  EXPECT_EQ(inclusive(kLongName), 50u + 550);
  EXPECT_EQ(inclusive("grind"), 500u + 150);
  EXPECT_EQ(inclusive("weigh"), 150u);
  EXPECT_EQ(inclusive("clear_page"), 120u);  // no stack: its own
  options.sort = "inclusive";
  EXPECT_EQ(*report_of(test, options).rows.front().function, "grind");
}

TEST(Inclusive, ListsCallersWithoutSamplesWhereTheyAreAskedFor) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  test.facts[ImageId(0u)].functions.push_back({FileOffset(0x400),
                                               FileOffset(0x440),
                                               test.facts[ImageId(0u)].strings.intern("start"),
                                               {},
                                               {},
                                               0});
  test.profile.stacks[0].location.offset = FileOffset(0x410);
  const auto count = [&](const ReportOptions& options) {
    const ReportTable table = report_of(test, options);
    return std::count_if(table.rows.begin(), table.rows.end(),
                         [](const ReportRow& row) { return row.function == "start"; });
  };
  EXPECT_EQ(count({}), 0);
  ReportOptions options;
  options.sort = "inclusive";
  EXPECT_EQ(count(options), 1);
  options.by = {RowLevel::instruction};
  EXPECT_FALSE(make_report(test.profile, test.lookup(), options));  // addresses call nothing
}

TEST(Inclusive, RecursionCountsOnce) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  test.profile.stacks[0].location.offset = FileOffset(0x214);  // grind calls grind
  const ReportTable table = report_of(test, by({RowLevel::module, RowLevel::function}));
  EXPECT_EQ(*table.rows[0].function, "grind");
  EXPECT_EQ(table.rows[0].inclusive.at(0).samples, 500u + 150);
}

TEST(Report, PutsProcessesOfOneNameTogether) {
  TestProfile test = make_test_profile();
  test.profile.processes[1].name = test.profile.processes[0].name;
  EXPECT_EQ(report_of(test, by({RowLevel::process})).rows.size(), 2u);
  const ReportTable table = report_of(test, by({RowLevel::comm}));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(*table.rows[0].process, "mill");
  EXPECT_FALSE(table.rows[0].process_id);
  EXPECT_EQ(table.rows[0].values[0].samples, 1000u);
}

// perf stat -e cycles: 100,000 of them, and no place in the code.
TEST(Report, OfCountsHasThemAndNoNought) {
  TestProfile test = make_test_profile();
  test.profile.histograms.clear();
  Count count;
  count.event = EventId(0u);
  count.value = 100'000;
  test.profile.counts = {count};
  EXPECT_TRUE(is_counts_only(test.profile));
  const ReportTable table = report_of(test, {});
  EXPECT_DOUBLE_EQ(table.totals.at(0).value, 100'000);
  EXPECT_TRUE(table.rows.empty());
}

/// Events of a simulated run, all of them at grind's first address.
TestProfile simulated_profile() {
  TestProfile test = make_test_profile();
  Profile& p = test.profile;
  p.events[0].engine = p.strings.intern("simulate");
  p.events[0].unit = Unit::cycles;
  p.events[0].provenance = Provenance::modelled;
  p.events[0].name = p.strings.intern("sim:cycles");
  for (const char* name :
       {"sim:stalled-cycles", "sim:serialization-cycles", "dTLB-store-misses",
        "L1-dcache-load-misses", "instructions", "MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM"}) {
    Event event;
    event.name = p.strings.intern(name);
    event.engine = p.events[0].engine;
    p.events.push_back(event);
    const size_t rows = p.histograms[0].offsets.size();
    EventColumn column{
        EventId(p.events.size() - 1), std::vector<uint64_t>(rows), std::vector<uint64_t>(rows), {}};
    column.value[0] = 1000;
    p.histograms[0].columns.push_back(column);
  }
  return test;
}

std::string heading_of(const std::string& text) {
  const size_t end = text.find("function\n");
  return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end) - 1);
}

TEST(Report, ShowsWhatWasAskedForAndWhatSaysMostFirst) {
  const TestProfile test = simulated_profile();
  ReportOptions options;
  EXPECT_NE(heading_of(text_of(test, options)).find("=executed"), std::string::npos);
  EXPECT_NE(heading_of(text_of(test, options)).find("=L1miss"), std::string::npos);
  options.sort = "dTLB-store-misses";
  EXPECT_NE(heading_of(text_of(test, options)).find("=dTLB-store-misses"), std::string::npos);
  options.sort.clear();
  options.events = {"MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM"};
  const std::string text = text_of(test, options);
  EXPECT_NE(heading_of(text).find("=MEM_LOAD.."), std::string::npos) << text;
  EXPECT_EQ(heading_of(text).find("=executed"), std::string::npos);
  EXPECT_NE(text.find("clear_page\n"), std::string::npos);  // names keep their room
  options.events = {"no-such-event"};
  EXPECT_FALSE(make_report(test.profile, test.lookup(), options));
}

TEST(Report, CountsStacksThatLeadToNoCode) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  // One note is of code without symbols.
  EXPECT_EQ(report_of(test, {}).ledger.notes().size(), 1u);
  Image unknown;
  test.profile.images.push_back(unknown);
  test.profile.stacks[0].location.image = ImageId(test.profile.images.size() - 1);
  const Ledger ledger = report_of(test, {}).ledger;
  ASSERT_EQ(ledger.notes().size(), 2u);
  EXPECT_TRUE(ledger.notes()[0].starts_with("the stacks of 550 samples lead to no code"));
}

// Six frames that only pass on, and two functions below them.
TEST(Tree, WrappersDoNotUseUpTheLimit) {
  TestProfile test = make_test_profile();
  Profile& p = test.profile;
  ImageFacts& facts = test.facts[ImageId(0u)];
  for (uint32_t i = 0; i < 6; ++i) {
    const FileOffset begin(0x400 + 0x40 * i);
    facts.functions.push_back({begin,
                               FileOffset(0x400 + 0x40 * i + 0x40),
                               facts.strings.intern("wrapper" + std::to_string(i)),
                               {},
                               {},
                               0});
    p.stacks.push_back({i == 0 ? StackId() : StackId(i - 1), {ImageId(0u), begin}});
  }
  p.stacks.push_back({StackId(5u), {ImageId(0u), FileOffset(0x210)}});
  p.stacks.push_back({StackId(5u), {ImageId(0u), FileOffset(0x310)}});
  p.stack_counts = {{ContextId(0u), StackId(6u), {EventId(0u), 250, 250'000'000, 0}},
                    {ContextId(0u), StackId(7u), {EventId(0u), 50, 50'000'000, 0}}};
  ReportOptions options;
  options.tree = Tree::callees;
  options.limit = 2;
  const ReportTable table = report_of(test, options);
  EXPECT_EQ(tell(table, [](const ReportRow& row) { return *row.function; }),
            "wrapper0 300, wrapper1 300, wrapper2 300, wrapper3 300, wrapper4 300, wrapper5 300, "
            "grind 250, [no stack] 700");
  const std::string text = text_of(test, options);
  EXPECT_NE(text.find("wrapper0  ..3..  wrapper4\n"), std::string::npos) << text;
  // What is cut is in the rows shown: its 50 samples are not counted once more.
  EXPECT_EQ(table.rest_apart_rows, 0u);
  EXPECT_NE(text.find("(1 below the rows above)\n"), std::string::npos) << text;
}

TEST(Tree, NeedsStacks) {
  const TestProfile test = make_test_profile();
  ReportOptions options;
  options.tree = Tree::callees;
  const auto refused = make_report(test.profile, test.lookup(), options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("record -g"), std::string::npos);
}

TEST(Tree, SurvivesStacksThatFormACircle) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  test.profile.stacks[0].parent = StackId(1u);
  ReportOptions options;
  options.tree = Tree::callers;
  EXPECT_FALSE(report_of(test, options).rows.empty());
}

// ---- Conservation: parts add up to the whole exactly. ----

TestProfile make_random_profile(std::mt19937& random) {
  TestProfile test = make_test_profile();
  ProfileBuilder builder;
  builder.profile() = test.profile;
  Event second;
  second.name = builder.intern("instructions");
  second.provenance = Provenance::counted;
  builder.profile().events.push_back(second);
  const auto contexts = static_cast<uint32_t>(test.profile.contexts.size());
  for (int i = 0; i < 300; ++i) {
    // Some contexts, images and addresses that exist, some that do not.
    const ContextId context(static_cast<uint32_t>(random() % (contexts + 1)));
    const Location location{ImageId(static_cast<uint32_t>(random() % 5)),
                            FileOffset(0x1f0 + random() % 0x160)};
    const EventId event(static_cast<uint32_t>(random() % 2));
    const uint64_t samples = random() % 50;
    const uint64_t value = samples * 1'001'003 + random() % 7;
    builder.add(context, location, event, samples, value);
    if (random() % 3 == 0) continue;
    const StackId outer =
        builder.intern_stack({StackId(), {ImageId(0u), FileOffset(random() % 9)}});
    const StackId leaf = builder.intern_stack({random() % 2 == 0 ? outer : StackId(), location});
    builder.add_stack(context, leaf, event, samples, value);
  }
  builder.take_counts();
  test.profile = builder.profile();
  return test;
}

void expect_same(const std::vector<Value>& parts, const std::vector<Value>& whole) {
  for (size_t event = 0; event < whole.size(); ++event) {
    EXPECT_EQ(parts[event].samples, whole[event].samples);
    EXPECT_EQ(parts[event].value, whole[event].value);
  }
}

void add_to(std::vector<Value>& sum, const std::vector<Value>& part) {
  for (size_t event = 0; event < part.size(); ++event) {
    sum[event].samples += part[event].samples;
    sum[event].value += part[event].value;
  }
}

TEST(Conservation, RowsAndRestAddUpToEverythingAtEveryLevel) {
  std::mt19937 random(11);
  for (int round = 0; round < 10; ++round) {
    const TestProfile test = make_random_profile(random);
    for (const auto& levels : kCombinations) {
      ReportOptions options = by(levels);
      options.limit = random() % 20;
      options.minimum_percent = static_cast<double>(random() % 3);
      const ReportTable table = report_of(test, options);
      std::vector<Value> sum(table.events.size());
      for (const ReportRow& row : table.rows) add_to(sum, row.values);
      add_to(sum, table.rest);
      expect_same(sum, table.totals);
      expect_same(table.shown, table.totals);
    }
  }
}

TEST(Conservation, SelfsOfATreeAddUpToEverything) {
  std::mt19937 random(13);
  for (int round = 0; round < 10; ++round) {
    const TestProfile test = make_random_profile(random);
    for (const Tree tree : {Tree::callers, Tree::callees}) {
      ReportOptions options;
      options.by = round % 2 == 0
                       ? std::vector{RowLevel::function}
                       : std::vector{RowLevel::process, RowLevel::module, RowLevel::line};
      options.tree = tree;
      options.limit = random() % 15;
      const ReportTable table = report_of(test, options);
      std::vector<Value> sum(table.events.size());
      for (const ReportRow& row : table.rows) add_to(sum, row.self);
      add_to(sum, table.rest);
      expect_same(sum, table.totals);
    }
  }
}

TEST(Conservation, FiltersSplitEverything) {
  const TestProfile test = make_test_profile();
  uint64_t samples = 0;
  for (const char* module : {"mill", "sort", "libc.so.6", "?kernel?"}) {
    ReportOptions options = by({RowLevel::instruction});
    options.filters = {{RowLevel::module, module}};
    samples += report_of(test, options).shown[0].samples;
  }
  EXPECT_EQ(samples, 1000u);
}

}  // namespace
}  // namespace culprit
