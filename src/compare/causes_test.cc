#include "compare/causes.h"

#include <gtest/gtest.h>

#include "accounting/test_template.h"
#include "compare/test_rows.h"
#include "model/engine.h"

namespace culprit {
namespace {

// Costs of made_template(): LOCAL_DRAM 200 cycles, MISPREDICTED 6; the branch of mispredictions
// needs ISSUED and RETIRED for its other part, which these profiles lack.
const std::vector<std::string> kEvents = {"CYCLES", "STALLS",       "LOCAL_DRAM",
                                          "L1_HIT", "MISPREDICTED", "INSTRUCTIONS"};

struct Counted {
  std::string function;
  std::vector<double> counts;  // parallel to kEvents
};

struct CountedRun {
  Profile profile;
  ReportTable table;
};

CountedRun make_run(const std::vector<Counted>& rows, double relative_error = 0) {
  CountedRun run;
  for (const std::string& name : kEvents) {
    Event event;
    event.name = run.profile.strings.intern(name);
    event.unit = name == "CYCLES" || name == "STALLS" ? Unit::cycles : Unit::events;
    event.provenance = relative_error > 0 ? Provenance::sampled : Provenance::counted;
    event.engine = run.profile.strings.intern(
        std::string(word_of(relative_error > 0 ? Engine::pmu : Engine::simulate)));
    event.period = relative_error > 0 ? 1000 : 0;
    run.profile.events.push_back(event);
  }
  run.table.events = run.profile.events;
  run.table.event_names = kEvents;
  run.table.totals.resize(kEvents.size());
  for (const Counted& row : rows) {
    ReportRow& made = run.table.rows.emplace_back();
    made.function = row.function;
    for (size_t i = 0; i < kEvents.size(); ++i) {
      const double count = row.counts[i];
      const uint64_t samples = relative_error > 0 ? static_cast<uint64_t>(count / 1000) : 0;
      made.values.push_back({samples, count, relative_error * count});
      run.table.totals[i].value += count;
      run.table.totals[i].samples += samples;
    }
  }
  return run;
}

Difference compare(const std::vector<CountedRun>& runs, const Template& cpu = made_template()) {
  std::vector<RunRows> rows;
  std::vector<RunCosts> costs;
  const auto shared = std::make_shared<const Template>(cpu);
  for (const CountedRun& run : runs) {
    rows.push_back(*make_run_rows(run.profile, run.table, "run", {}));
    costs.push_back(make_run_costs(run.profile, run.table, shared));
  }
  Difference difference = find_difference(*put_side_by_side(rows), runs.size() / 2, {});
  add_causes(costs, runs.size() / 2, difference);
  return difference;
}

const std::vector<Counted> kBase = {{"lookup", {1e6, 4e5, 1000, 2e5, 100, 5e5}},
                                    {"steady", {1e6, 1e5, 500, 1e5, 100, 8e5}}};
const std::vector<Counted> kMoreMisses = {{"lookup", {1.8e6, 12e5, 5000, 196e3, 100, 5e5}},
                                          {"steady", {1e6, 1e5, 500, 1e5, 100, 8e5}}};

TEST(Causes, AreTheBranchesThatChanged) {
  const Difference difference = compare({make_run(kBase), make_run(kMoreMisses)});
  const RowChange& lookup = find_change(difference, "lookup");
  ASSERT_TRUE(lookup.cause);
  EXPECT_EQ(lookup.cause->state, Cause::State::found);
  ASSERT_GE(lookup.cause->branches.size(), 1u);
  const CauseBranch& first = lookup.cause->branches.front();
  EXPECT_EQ(first.key, "load_latency");
  EXPECT_DOUBLE_EQ(first.cycles.change(), 4000 * 200);  // LOCAL_DRAM x 200
  EXPECT_EQ(first.most, "LOCAL_DRAM");
  ASSERT_GE(first.events.size(), 1u);
  EXPECT_EQ(first.events[0].label, "LOCAL_DRAM");
  EXPECT_DOUBLE_EQ(first.events[0].now, 5000);
  ASSERT_TRUE(lookup.cause->instructions);
  EXPECT_DOUBLE_EQ(lookup.cause->instructions->change(), 0);
  EXPECT_FALSE(find_change(difference, "steady").cause);  // it did not change
  ASSERT_TRUE(difference.total.cause);
  EXPECT_EQ(difference.total.cause->branches.front().key, "load_latency");
}

// 600 k cycles more, all of them unstalled, and no event of the branches: more work.
TEST(Causes, MoreInstructionsAreUsefulWork) {
  std::vector<Counted> more = kBase;
  more[0].counts = {1.6e6, 4e5, 1000, 2e5, 100, 11e5};
  const Difference difference = compare({make_run(kBase), make_run(more)});
  const Cause& cause = *find_change(difference, "lookup").cause;
  ASSERT_EQ(cause.branches.size(), 1u);
  EXPECT_EQ(cause.branches[0].key, "useful_work");
  EXPECT_DOUBLE_EQ(cause.branches[0].cycles.change(), 6e5);
  EXPECT_DOUBLE_EQ(cause.instructions->change(), 6e5);
}

// Sampled events with a tenth of error each: what changes by a few per cent is no cause, what is
// five times as much is one.
TEST(Causes, ThatChanceExplainsAreNone) {
  std::vector<Counted> now = kMoreMisses;
  now[0].counts[4] = 105;
  const Difference difference = compare({make_run(kBase, 0.1), make_run(now, 0.1)});
  const RowChange& lookup = find_change(difference, "lookup");
  ASSERT_EQ(lookup.verdict, ChangeVerdict::not_tested);  // one run a side, but far from 0
  ASSERT_TRUE(lookup.cause);
  ASSERT_FALSE(lookup.cause->branches.empty());
  EXPECT_EQ(lookup.cause->branches[0].key, "load_latency");
  for (const CauseBranch& branch : lookup.cause->branches) {
    EXPECT_NE(branch.key, "branch_misprediction");
  }
}

TEST(Causes, OfTimeAloneAreUnknown) {
  Template time;
  time.rows = {made_row("CYCLES", CostBranch::unhalted, Role::sum, 1)};
  std::vector<CountedRun> runs = {make_run(kBase), make_run(kMoreMisses)};
  const Cause counted = *find_change(compare(runs, time), "lookup").cause;
  EXPECT_EQ(counted.state, Cause::State::unknown);
  EXPECT_EQ(counted.reason, "cycles alone");
}

TEST(Causes, NeedTheSameTreeOnBothSides) {
  Template other = made_template();
  other.name = "another";
  const CountedRun base = make_run(kBase);
  const CountedRun now = make_run(kMoreMisses);
  const RunCosts costs[] = {
      make_run_costs(base.profile, base.table, std::make_shared<const Template>(made_template())),
      make_run_costs(now.profile, now.table, std::make_shared<const Template>(other))};
  const std::vector<RunRows> rows = {*make_run_rows(base.profile, base.table, "a", {}),
                                     *make_run_rows(now.profile, now.table, "b", {})};
  Difference difference = find_difference(*put_side_by_side(rows), 1, {});
  add_causes(costs, 1, difference);
  EXPECT_EQ(find_change(difference, "lookup").cause->reason, "the runs are of different CPUs");
}

}  // namespace
}  // namespace culprit
