// Calls by pointer in the profile of test_two_runs.h: grind (0x204) calls shapes at 0x300, 0x340.

#include "why/redirected_time.h"

#include <gtest/gtest.h>

#include "why/test_two_runs.h"

namespace culprit {
namespace {

class RedirectedTime : public ::testing::Test {
 protected:
  RedirectedTime() {
    ImageFacts& mill = test_.facts[mill_];
    mill.functions[1].name = mill.strings.intern("A::area");
    mill.functions.push_back(
        {FileOffset(0x340), FileOffset(0x380), mill.strings.intern("B::area"), {}, {}, 0});
    mill.code[0].bytes.replace(4, 2, "\xff\xd0", 2);  // callq *%rax
    add_simulated(test_.profile, "sim:misprediction-cycles", Unit::cycles, 500'000'000);
    test_.profile.histograms.front().offsets.front() = FileOffset(0x204);
    table_.totals.resize(test_.profile.events.size());
    table_.totals[0] = {1000, 1e9, 0};
    add_row("grind", 100, 700e6);
    add_row("A::area", 125, 14e6);
    add_row("B::area", 135, 63e6);
  }
  void call(uint64_t to) {
    test_.profile.branch_counts.push_back(
        {ContextId(0u), {mill_, FileOffset(0x204)}, {mill_, FileOffset(to)}, 100, 0, 0, 100, 0});
  }
  /// Samples are of 1 ms at 2 GHz: 2 M cycles.
  void add_row(const char* function, uint64_t samples, double modelled) {
    const TwoRuns runs = *find_two_runs(test_.profile);
    ReportRow& row = table_.rows.emplace_back();
    row.function = function;
    row.values.resize(test_.profile.events.size());
    row.values[runs.time] = {samples, 1e6 * double(samples), 0};
    row.values[*runs.cycles].value = modelled;
  }
  RedirectedCycles find_all() {
    return find_redirected_cycles(test_.profile, test_.lookup(), *find_two_runs(test_.profile),
                                  table_);
  }
  std::map<std::string, double> find() { return find_all().moved; }

  const ImageId mill_{0u};
  TestProfile test_ = two_runs();
  ReportTable table_;
};

// grind has 500 M too much, which its calls' mispredictions have; its callees 236 M and 207 M more
// than their model.
TEST_F(RedirectedTime, IsTheCallersUpToWhatCalleesHaveBeyondTheirModel) {
  call(0x300);
  call(0x340);
  const std::map<std::string, double> moved = find();
  ASSERT_EQ(moved.size(), 3u);
  EXPECT_NEAR(moved.at("grind"), 443e6, 1);
  EXPECT_NEAR(moved.at("A::area"), -236e6, 1);
  EXPECT_NEAR(moved.at("B::area"), -207e6, 1);
  const TwoRuns runs = *find_two_runs(test_.profile);
  move_redirected_time(moved, runs, table_);
  EXPECT_NEAR(table_.rows[0].values[runs.time].value, 100e6 + 221.5e6, 1);  // ns
  EXPECT_NEAR(table_.rows[1].values[runs.time].value, 7e6, 1);
  EXPECT_EQ(table_.rows[1].values[runs.time].samples, 7u);
}

TEST_F(RedirectedTime, IsNoMoreThanTheModelChargesForTheseCalls) {
  call(0x300);
  call(0x340);
  EventColumn& column = test_.profile.histograms.front().columns.back();
  column.value.front() = 100'000'000;
  const std::map<std::string, double> moved = find();
  EXPECT_NEAR(moved.at("grind"), 100e6, 1);
  EXPECT_NEAR(moved.at("A::area") + moved.at("B::area"), -100e6, 1);
}

// Of the 443 M that the callees have beyond their model, 100 M are moved: of A 236 - 53.3, of B
// 207 - 46.7 stay.
TEST_F(RedirectedTime, LeavesWhatTheModelLacksOfCallerAndCallees) {
  call(0x300);
  call(0x340);
  EventColumn& column = test_.profile.histograms.front().columns.back();
  column.value.front() = 100'000'000;
  const std::map<std::string, double> beyond = find_all().beyond.at("grind");
  EXPECT_NEAR(beyond.at("A::area"), 236e6 - 100e6 * 236 / 443, 1);
  EXPECT_NEAR(beyond.at("B::area"), 207e6 - 100e6 * 207 / 443, 1);
  column.value.front() = 500'000'000;
  EXPECT_TRUE(find_all().beyond.empty());
}

TEST_F(RedirectedTime, IsNoneOfCallsThatGoToOneFunction) {
  EXPECT_TRUE(find().empty());
  call(0x300);
  EXPECT_TRUE(find().empty());
}

TEST_F(RedirectedTime, IsNoneWhereTheModelHasNotTooMuch) {
  call(0x300);
  call(0x340);
  table_.rows[0].values[find_two_runs(test_.profile)->time].value = 350e6;
  EXPECT_TRUE(find().empty());
}

}  // namespace
}  // namespace culprit
