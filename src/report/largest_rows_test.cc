// The rows that LargestRows finds are those that a report would have first, which report_test.cc
// works out by hand.

#include "report/largest_rows.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

/// The first row of a report, with its share of what the filters leave.
LargestRow first_of_report(const TestProfile& test, RowLevel by, const std::vector<Filter>& filters,
                           size_t event) {
  ReportOptions options;
  options.by = {by};
  options.filters = filters;
  options.limit = 1;
  options.sort = test.profile.strings.text(test.profile.events[event].name);
  const Result<ReportTable> table = make_report(test.profile, test.lookup(), options);
  EXPECT_TRUE(table);
  LargestRow row;
  if (!table || table->rows.empty()) return row;
  const ReportRow& first = table->rows.front();
  row.function = first.function.value_or("");
  row.file = first.file.value_or("");
  row.line = first.line.value_or(0);
  row.share = first.values[event].value / table->shown[event].value;
  return row;
}

void expect_same(const std::optional<LargestRow>& found, const LargestRow& wanted) {
  ASSERT_TRUE(found);
  EXPECT_EQ(found->function, wanted.function);
  EXPECT_EQ(found->file, wanted.file);
  EXPECT_EQ(found->line, wanted.line);
  EXPECT_DOUBLE_EQ(found->share, wanted.share);
}

TEST(LargestRows, AreTheFirstRowsOfReports) {
  const TestProfile test = make_test_profile();
  const FactsLookup facts = test.lookup();
  const std::vector<std::vector<Filter>> kFilters = {{}, {{RowLevel::module, "*"}}};
  for (const std::vector<Filter>& filters : kFilters) {
    const LargestRows rows(test.profile, facts, filters);
    for (size_t event = 0; event < test.profile.events.size(); ++event) {
      expect_same(rows.find_function(event),
                  first_of_report(test, RowLevel::function, filters, event));
      expect_same(rows.find_line(event), first_of_report(test, RowLevel::line, filters, event));
      const std::string function = rows.find_function(event)->function;
      std::vector<Filter> within = filters;
      within.push_back({RowLevel::function, function});
      expect_same(rows.find_line_within(function, event),
                  first_of_report(test, RowLevel::line, within, event));
    }
  }
}

/// grind of mill has 500 samples of its own and 150 in weigh, which is inlined into it; sort's has
/// 100.
TEST(LargestRows, OfAFunctionAreWithWhatIsInlinedIntoIt) {
  const TestProfile test = make_test_profile();
  const FactsLookup facts = test.lookup();
  const auto sum = [&](const char* function) {
    double all = 0;
    const LargestRows rows(test.profile, facts, {{RowLevel::function, function}});
    rows.sum_functions(
        [&](const LargestRowNames&, std::span<const Value> values) { all += values[0].value; });
    return all;
  };
  EXPECT_EQ(sum("grind"), 750e6);  // ns
  EXPECT_EQ(sum("weigh"), 150e6);
  EXPECT_EQ(sum("absent"), 0);
}

/// weigh, which is inlined into grind at mill.c:13, comes from a header of the system: its 150
/// samples are grind's, at that line.
TEST(LargestRows, CodeOfSystemHeadersIsItsCallers) {
  TestProfile test = make_test_profile();
  ImageFacts& mill = test.facts.begin()->second;
  mill.lines[3].file = mill.strings.intern("/usr/include/c++/12/bits/scale.h");
  const FactsLookup facts = test.lookup();
  const LargestRows rows(test.profile, facts, {{RowLevel::module, "mill"}});
  double grind = 0;
  rows.sum_functions([&](const LargestRowNames& row, std::span<const Value> values) {
    EXPECT_NE(row.function, "weigh");
    if (row.function == "grind") grind += values[0].value;
  });
  EXPECT_EQ(grind, 650e6);  // ns
  double at_line_13 = 0;
  rows.sum_lines([&](const LargestRowNames& row, std::span<const Value> values) {
    EXPECT_NE(row.line, 5u);
    if (row.line == 13) at_line_13 += values[0].value;
  });
  EXPECT_EQ(at_line_13, 150e6);
  const LargestRows asked(test.profile, facts, {{RowLevel::function, "weigh"}});
  EXPECT_EQ(asked.find_function(0)->function, "weigh");
}

TEST(LargestRows, OfNothingThereAreNone) {
  const TestProfile test = make_test_profile();
  const FactsLookup facts = test.lookup();
  const LargestRows rows(test.profile, facts, {{RowLevel::function, "no such function"}});
  EXPECT_FALSE(rows.find_function(0));
  EXPECT_FALSE(rows.find_line(0));
  EXPECT_FALSE(rows.find_line_within("grind", 0));
}

}  // namespace
}  // namespace culprit
