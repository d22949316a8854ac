#include "top/top_table.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"
#include "top/top_screen.h"

namespace culprit {
namespace {

/// The test profile as one second: 1,000 samples of a millisecond each are one CPU.
LiveWindow one_second() {
  LiveWindow window;
  window.profile = make_test_profile().profile;
  window.seconds = 1;
  window.samples = 1000;
  return window;
}

TopTable table_of(const TopQuestion& question) {
  const TestProfile test = make_test_profile();
  Result<TopTable> table = make_top_table(one_second(), test.lookup(), test.lookup(), question);
  EXPECT_TRUE(table) << (table ? "" : table.error().message);
  return table ? *std::move(table) : TopTable{};
}

const TopRow* find_function(const TopTable& table, const std::string& name,
                            const std::string& module) {
  for (const TopRow& row : table.rows) {
    if (row.function == TopFunction{name, module}) return &row;
  }
  return nullptr;
}

TEST(TopTable, ProcessesAddUpToEverything) {
  const TopTable table = table_of({.level = TopLevel::processes});
  EXPECT_EQ(table.samples, 1000u);
  EXPECT_DOUBLE_EQ(table.rate, 100);  // one CPU
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].process, (TopProcess{"mill", 100}));
  EXPECT_EQ(table.rows[0].samples, 900u);
  EXPECT_DOUBLE_EQ(table.rows[0].rate, 90);
  EXPECT_DOUBLE_EQ(table.rows[0].share, 0.9);
  EXPECT_EQ(table.rows[1].process, (TopProcess{"sort", 101}));
}

TEST(TopTable, IntervalsAreThoseOfPoissonCounts) {
  const TopTable table = table_of({.level = TopLevel::processes});
  ASSERT_EQ(table.rows.size(), 2u);
  // R: poisson.test(100)$conf.int = 81.36 121.63; one sample is 0.1 % of a CPU here.
  EXPECT_NEAR(table.rows[1].rate95.low, 8.136, 0.02);
  EXPECT_NEAR(table.rows[1].rate95.high, 12.163, 0.02);
}

TEST(TopTable, FunctionsOfOneProcessAreItsOwn) {
  const TopTable table =
      table_of({.level = TopLevel::functions, .process = TopProcess{"sort", 101}});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].samples, 100u);
  EXPECT_DOUBLE_EQ(table.rows[0].share, 0.1);  // of everything
}

TEST(TopTable, FunctionsOfEverythingAreToldApartByModule) {
  const TopTable table = table_of({.level = TopLevel::functions});
  uint64_t samples = 0;
  for (const TopRow& row : table.rows) samples += row.samples;
  EXPECT_EQ(samples, 1000u);
  const TopRow* const grind = find_function(table, "grind", "/opt/bin/mill");
  ASSERT_NE(grind, nullptr);
  EXPECT_EQ(grind->samples, 500u);  // without weigh, which is inlined into it
}

TEST(TopTable, InstructionsHaveTheirCountsAndPlaces) {
  const TopTable table = table_of({.level = TopLevel::instructions,
                                   .function = TopFunction{"grind", "/opt/bin/mill"},
                                   .by_name = true});
  ASSERT_FALSE(table.rows.empty());
  uint64_t samples = 0;
  for (const TopRow& row : table.rows) samples += row.samples;
  EXPECT_EQ(samples, 650u);
  for (size_t i = 1; i < table.rows.size(); ++i) {
    EXPECT_LT(table.rows[i - 1].address, table.rows[i].address);
  }
  const auto hot = std::find_if(table.rows.begin(), table.rows.end(),
                                [](const TopRow& row) { return row.address == 0x1210; });
  ASSERT_NE(hot, table.rows.end());
  EXPECT_EQ(hot->samples, 400u);
  EXPECT_EQ(hot->place, "mill.c:11");
}

TEST(TopTable, WhatIsNotThereIsARemark) {
  const TopTable table = table_of(
      {.level = TopLevel::instructions, .function = TopFunction{"nothing", "/opt/bin/mill"}});
  EXPECT_TRUE(table.rows.empty());
  EXPECT_NE(table.remark.find("not sampled"), std::string::npos) << table.remark;
  const TopTable gone = table_of({.level = TopLevel::functions, .process = TopProcess{"gone", 77}});
  EXPECT_TRUE(gone.rows.empty());
  EXPECT_FALSE(gone.remark.empty());
}

TEST(TopScreen, HasTheSizeOfItsTerminal) {
  const TopTable table = table_of({.level = TopLevel::functions});
  for (const size_t height : {1, 2, 3, 5, 24}) {
    for (const size_t width : {1, 10, 80, 200}) {
      TopView view;
      view.shows_help = height == 5;
      const auto lines = make_top_screen(table, {"whole system", 2}, view, width, height);
      EXPECT_LE(lines.size(), height);
      for (const ScreenLine& line : lines) EXPECT_LE(line.text.size(), width) << line.text;
    }
  }
}

TEST(TopScreen, NamesFromStrangersDoNotMoveTheCursor) {
  TopTable table = table_of({.level = TopLevel::processes});
  table.rows[0].process.name = "a\x1b[2J\nb";
  const std::string text = print_top_batch(table, {"whole system", 2}, 80, 10);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("a?[2J?b (100)"), std::string::npos) << text;
}

TEST(TopScreen, BatchPrintsSoManyRows) {
  const TopTable table = table_of({.level = TopLevel::processes});
  const std::string text = print_top_batch(table, {"whole system", 2}, 80, 1);
  EXPECT_EQ(text,
            "culprit top  whole system  last 1 s  1,000 samples  100.0 % of 2 CPUs\n"
            " CPU %            95 %   share  samples  process\n"
            "  90.0     84.2 - 96.1  90.0 %      900  mill (100)\n");  // R: poisson.test(900)
}

}  // namespace
}  // namespace culprit
