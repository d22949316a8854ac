// Counts whose costs are known by hand: an instruction's executions at each loop count.

#include "scan/costs.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "model/merge.h"
#include "scan/quantities.h"

namespace culprit::scan {
namespace {

/// A profile with a run for each loop count, whose places are functions of their own.
class MadeScan {
 public:
  explicit MadeScan(std::vector<uint64_t> runs) : runs_(std::move(runs)) {
    for (const char* name : {"instructions", "L1-dcache-loads"}) {
      Event event;
      event.name = profile_.strings.intern(name);
      profile_.events.push_back(event);
    }
    profile_.images.emplace_back();
    for (const uint64_t count : runs_) {
      Run run;
      label_run(profile_.strings, run, {"kernel", "setup", {{"DIM", "5"}}});
      label_run(profile_.strings, run, kRunsLabel, std::to_string(count));
      if (profile_.runs.empty()) label_run(profile_.strings, run, kStatusLabel, kMeasured);
      Context context;
      context.run = RunId(profile_.runs.size());
      profile_.runs.push_back(run);
      profile_.contexts.push_back(context);
    }
  }

  /// Executions by loop count; each loads `loads` times.
  void add(uint64_t offset, const std::vector<uint64_t>& counts, uint64_t loads = 0) {
    for (size_t run = 0; run < counts.size(); ++run) {
      const ContextId context(run);
      rows_.push_back(
          {context, {ImageId(0u), FileOffset(offset)}, {EventId(0u), 0, counts[run], 0}});
      if (loads == 0) continue;
      rows_.push_back(
          {context, {ImageId(0u), FileOffset(offset)}, {EventId(1u), 0, counts[run] * loads, 0}});
    }
  }

  /// Loads by loop count, that do not follow from the executions.
  void add_loads(uint64_t offset, const std::vector<uint64_t>& counts) {
    for (size_t run = 0; run < counts.size(); ++run) {
      rows_.push_back(
          {ContextId(run), {ImageId(0u), FileOffset(offset)}, {EventId(1u), 0, counts[run], 0}});
    }
  }

  Profile& profile() {
    profile_.histograms = make_histograms(rows_, profile_.events);
    return profile_;
  }
  CellCosts costs(uint64_t per_run = 1) {
    const Profile& whole = profile();
    std::vector<Cell> cells = find_cells(whole);
    EXPECT_EQ(cells.size(), 1u);
    cells[0].details[std::string(kPerRunLabel)] = std::to_string(per_run);
    // Places below 0x100 are of one function, and so on.
    const auto costs = CostReader(whole).compute(
        cells[0], [](const Location& at) { return at.offset.value / 0x100; }, CostDetail::places);
    EXPECT_TRUE(costs);
    return costs.value_or(CellCosts());
  }

 private:
  std::vector<uint64_t> runs_;
  Profile profile_;
  std::vector<HistogramRow> rows_;
};

TEST(Costs, AreTheSlopesOfWhatLiesOnALine) {
  MadeScan scan({100, 300, 700});
  scan.add(0x10, {500, 1500, 3500}, 2);  // 5 each time
  scan.add(0x20, {103, 303, 703});       // 1, and 3 before
  scan.add(0x300, {77, 77, 77});         // never again
  const CellCosts costs = scan.costs();
  EXPECT_EQ(costs.totals[0], (Estimate{6, 0}));
  EXPECT_EQ(costs.totals[1], (Estimate{10, 0}));
  EXPECT_FALSE(costs.is_refused);
  EXPECT_FALSE(costs.varies);
  EXPECT_TRUE(costs.is_checked);
}

TEST(Costs, AreOfAnIterationWhereTheProgramMultiplies) {
  MadeScan scan({100, 300, 700});
  scan.add(0x10, {50'000, 150'000, 350'000});
  EXPECT_EQ(scan.costs(100).totals[0], (Estimate{5, 0}));
}

TEST(Costs, LeaveOutWhatBelongsToNoIteration) {
  MadeScan scan({100, 300, 700});
  scan.add(0x10, {500, 1500, 3500});
  scan.add(0x500, {90, 90, 92});  // strtol: another digit
  const CellCosts costs = scan.costs();
  EXPECT_EQ(costs.totals[0], (Estimate{5, 0}));
  ASSERT_EQ(costs.places.size(), 2u);
  EXPECT_EQ(costs.places[1].behaviour, Behaviour::once);
  EXPECT_EQ(costs.places[1].executions, 2);
}

TEST(Costs, AreMeansWhereIterationsDiffer) {
  // A branch that half of all iterations take, by chance.
  std::mt19937 random(1);
  std::vector<uint64_t> counts;
  for (const int runs : {1000, 3000, 7000}) {
    uint64_t taken = 0;
    for (int i = 0; i < runs; ++i) taken += random() % 2;
    counts.push_back(taken);
  }
  MadeScan scan({1000, 3000, 7000});
  scan.add(0x10, {1000, 3000, 7000});
  scan.add(0x20, counts);
  const CellCosts costs = scan.costs();
  EXPECT_TRUE(costs.varies);
  EXPECT_FALSE(costs.is_refused);
  EXPECT_NEAR(costs.totals[0].value, 1.5, 0.05);
  EXPECT_GT(costs.totals[0].standard_error, 0);
}

TEST(Costs, AreRefusedWhereIterationsCostMoreTheMoreThereAre) {
  MadeScan scan({100, 300, 700});
  scan.add(0x10, {100, 300, 700});
  scan.add(0x20, {4950, 44'850, 244'650});  // n (n - 1) / 2
  const CellCosts costs = scan.costs();
  EXPECT_TRUE(costs.is_refused);
  EXPECT_EQ(costs.places[1].behaviour, Behaviour::growing);
}

TEST(Costs, AreNothingWhereStartUpDiffersByACountOrTwo) {
  const auto loads = [](const std::vector<std::vector<uint64_t>>& places) {
    MadeScan scan({100, 300, 700});
    for (size_t i = 0; i < places.size(); ++i) {
      scan.add(0x10 + i, {500, 1500, 3500});
      scan.add_loads(0x10 + i, places[i]);
    }
    return scan.costs();
  };
  // 2 fewer between 100 and 700 runs; slopes of 0 and -2 / 400, half of which is 0.0025.
  const CellCosts two = loads({{5, 5, 3}});
  EXPECT_EQ(two.totals[1], (Estimate{0, 2.0 / 600}));
  EXPECT_EQ(two.places[0].per_iteration[1], (Estimate{0, 2.0 / 600}));
  EXPECT_EQ(two.totals[0], (Estimate{5, 0}));
  // As vecadd's kin have it: 5 mispredictions at two places, then 1. 4 < 2 * sqrt(5 + 1) = 4.9.
  const CellCosts warming = loads({{4, 1, 1}, {1, 0, 0}});
  EXPECT_EQ(warming.totals[1].value, 0);
  // Slopes of -3 / 200 and 0, and of -1 / 200 and 0: halves are 0.0075 and 0.0025.
  EXPECT_DOUBLE_EQ(warming.totals[1].standard_error, 0.01);
  EXPECT_EQ(warming.places[0].per_iteration[1].value, 0);
  // 6 more are more than 2 * sqrt(1 + 7) = 5.7: one in a hundred iterations.
  EXPECT_DOUBLE_EQ(loads({{1, 3, 7}}).totals[1].value, 6.0 / 600);
  // Ten are not few, though 2 * sqrt(100 + 110) = 29.
  EXPECT_DOUBLE_EQ(loads({{100, 104, 110}}).totals[1].value, 10.0 / 600);
  // What stays the same is 0 without an error.
  EXPECT_EQ(loads({{5, 5, 5}}).totals[1], (Estimate{0, 0}));
}

TEST(Costs, FallingCountsAreOfNoIteration) {
  MadeScan scan({100, 300, 700});
  scan.add(1, {500, 1500, 3500});
  scan.add(0x200, {40, 32, 16});  // on the line by chance, and of another function
  scan.add(0x300, {57, 55, 51});
  const CellCosts costs = scan.costs();
  EXPECT_EQ(costs.totals[0], (Estimate{5, 0}));
  for (const PlaceCost& place : costs.places) {
    EXPECT_EQ(place.behaviour, place.at.offset.value == 1 ? Behaviour::steady : Behaviour::once);
  }
}

TEST(Costs, OfFewIterationsAreExact) {
  // Two loads in two iterations are one each, not start-up.
  MadeScan scan({1, 2, 3});
  scan.add(0x10, {5, 10, 15}, 0);
  scan.add_loads(0x10, {1, 2, 3});
  EXPECT_EQ(scan.costs().totals[1], (Estimate{1, 0}));
}

TEST(Costs, OfTwoLoopCountsAreNotChecked) {
  MadeScan scan({100, 300});
  scan.add(0x10, {500, 1500});
  const CellCosts costs = scan.costs();
  EXPECT_EQ(costs.totals[0], (Estimate{5, 0}));
  EXPECT_FALSE(costs.is_checked);
}

TEST(Costs, KeepWhatDiffersAndTheSumsOfAll) {
  MadeScan scan({100, 300});
  scan.add(0x10, {500, 1500}, 1);
  scan.add(0x300, {77, 77});
  Profile& profile = scan.profile();
  const CellCosts before = scan.costs();
  keep_what_differs(profile);
  for (const Histogram& histogram : profile.histograms) {
    EXPECT_EQ(histogram.offsets, std::vector<FileOffset>{FileOffset(0x10)});
  }
  std::vector<uint64_t> sums;
  for (const Count& count : profile.counts) sums.push_back(count.value);
  EXPECT_EQ(sums, (std::vector<uint64_t>{577, 500, 1577, 1500}));
  const std::vector<Cell> cells = find_cells(profile);
  const auto after =
      CostReader(profile).compute(cells[0], [](const Location&) { return 0; }, CostDetail::totals);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->totals, before.totals);
  EXPECT_TRUE(after->places.empty());  // they were not asked for
}

// Of an event that one run has not, or of a place: what is not there was counted 0 times.
TEST(Costs, KeepWhatOneRunDoesNotHave) {
  MadeScan scan({100, 300});
  scan.add(0x10, {5, 0});
  scan.add(0x20, {0, 5});
  scan.add(0x30, {77, 77});
  scan.add(0x40, {77, 77});
  Profile& profile = scan.profile();
  Histogram& first = profile.histograms.front();
  ASSERT_EQ(first.offsets.size(), 3u);
  first.columns.push_back({EventId(1u), {}, {0, 0, 9}, {}});  // loads of 0x40
  keep_what_differs(profile);
  ASSERT_EQ(profile.histograms.size(), 2u);
  EXPECT_EQ(profile.histograms[0].offsets,
            (std::vector<FileOffset>{FileOffset(0x10), FileOffset(0x40)}));
  EXPECT_EQ(profile.histograms[1].offsets,
            (std::vector<FileOffset>{FileOffset(0x20), FileOffset(0x40)}));
}

TEST(Quantities, KnowEventsParametersAndPresets) {
  MadeScan scan({100, 300, 700});
  scan.add(0x10, {500, 1500, 3500}, 2);
  const Profile& profile = scan.profile();
  const std::vector<Cell> cells = find_cells(profile);
  const auto presets = parse_presets(
      "[loads]\nformula = \"L1-dcache-loads\"\ntitle = \"loads\"\n"
      "[cpi]\nformula = \"sim:cycles / instructions\"\ntitle = \"CPI\"\n",
      "presets.toml");
  ASSERT_TRUE(presets);
  const CellCosts costs = scan.costs();
  const Quantities quantities(profile, cells, *presets);
  const auto value = [&](std::string_view text) {
    const Result<Expression> expression = quantities.parse(text);
    return expression ? quantities.evaluate(*expression, cells[0], &costs) : std::nullopt;
  };
  EXPECT_EQ(value("loads / DIM"), (Estimate{2, 0}));
  EXPECT_FALSE(value("text_bytes"));  // nobody said
  const Result<Expression> cpi = quantities.parse("cpi");
  ASSERT_FALSE(cpi);
  EXPECT_EQ(cpi.error().message,
            "cpi needs what this scan did not count: 'sim:cycles / instructions': 'sim:cycles' is "
            "not a name that is known here\n"
            "machine = \"host\" in the setup file's [scan] models caches and cycles, too");
}

TEST(Quantities, EventsOfForecastsAreNotListed) {
  MadeScan scan({100, 300});
  scan.add(0x10, {500, 1500});
  Profile& profile = scan.profile();
  profile.events[1].name = profile.strings.intern("sim:without-l2");
  const std::vector<Cell> cells = find_cells(profile);
  const std::vector<Preset> presets;
  const Quantities quantities(profile, cells, presets);
  const std::vector<std::string>& names = quantities.names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "instructions"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "sim:without-l2"), 0);
  EXPECT_TRUE(quantities.parse("sim:without-l2"));
}

TEST(Cells, AreTheLatestMeasurementOfEachName) {
  Profile profile;
  const auto add = [&](const char* setup, const char* status, const char* runs) {
    culprit::Run run;
    label_run(profile.strings, run, {"kernel", setup, {}});
    if (*status != 0) label_run(profile.strings, run, kStatusLabel, status);
    if (*runs != 0) label_run(profile.strings, run, kRunsLabel, runs);
    profile.runs.push_back(run);
  };
  add("a", "build failed", "");
  add("b", "measured", "300");
  add("b", "", "100");
  add("a", "measured", "100");
  add("a", "", "300");
  const std::vector<Cell> cells = find_cells(profile);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_TRUE(cells[0].is_measured());
  EXPECT_EQ(cells[0].points.size(), 2u);
  EXPECT_EQ(cells[0].first, RunId(3u));
  EXPECT_EQ(cells[1].points[0].run, RunId(2u));  // by loop count
}

}  // namespace
}  // namespace culprit::scan
