#include "scan/history.h"

#include <cmath>
#include <gtest/gtest.h>

#include "scan/native_costs.h"

namespace culprit::scan {
namespace {

/// One kernel under a label for each value: its times [ns], or its instructions.
struct Measured {
  std::string expression;
  Profile profile;
  std::vector<Cell> cells;
  std::vector<std::optional<CellCosts>> costs;
  std::vector<Preset> presets;

  Measured(std::string_view of, const std::vector<double>& values) : expression(of) {
    Event event;
    event.name = profile.strings.intern("instructions");
    profile.events.push_back(event);
    for (size_t i = 0; i < values.size(); ++i) {
      Cell cell;
      cell.name = {"kernel", "gcc", {{"DIM", "8"}}};
      cell.first = RunId{static_cast<uint32_t>(i)};
      cell.details[std::string(kStatusLabel)] = kMeasured;
      cell.details[std::string(kHistoryLabel)] = "v" + std::to_string(i);
      cell.details[std::string(kTimingLabel)] = write_pairs(within_a_tenth(values[i]));
      cells.push_back(cell);
      CellCosts cost;
      cost.totals = {{values[i], 0}};
      costs.push_back(cost);
    }
  }

  /// Six pairs: their median has the interval +-0.1.
  static PairedCounts within_a_tenth(double ns) {
    PairedCounts times{1000, 8000, {}};
    for (const double error : {-0.1, 0.0, 0.0, 0.0, 0.0, 0.1}) {
      times.pairs.push_back({0, static_cast<uint64_t>(std::llround(7000 * (ns + error)))});
    }
    return times;
  }

  /// The labels at which something differs from the label before, and what printing it says.
  std::vector<size_t> changes(Compared compared) {
    const Quantities quantities(profile, cells, presets);
    const Result<Expression> parsed = quantities.parse(expression);
    if (!parsed) return {SIZE_MAX};
    History history{quantities, *parsed, cells, costs};
    history.levels = find_levels(history);
    std::vector<size_t> found;
    for (size_t i = 1; i < cells.size(); ++i) {
      const Comparison comparison = compare_cells(history, {i - 1}, {i}, compared);
      if (comparison.changes.empty()) continue;
      found.push_back(i);
      last = comparison.changes[0];
      text = print_comparison(comparison, history, 0, {});
    }
    return found;
  }
  Change last = {};
  std::string text = {};
};

/// 99 and 101 in turns, from v12 of 20 on a tenth more.
std::vector<double> scattered() {
  std::vector<double> values;
  for (size_t i = 0; i < 20; ++i) values.push_back((i % 2 == 0 ? 99 : 101) * (i < 12 ? 1 : 1.1));
  return values;
}

TEST(History, KnowsWhatTheMachineDoesBetweenMeasurements) {
  Measured measured(kTime, scattered());
  EXPECT_EQ(measured.changes(Compared::labels), std::vector<size_t>{12});
  EXPECT_EQ(measured.changes(Compared::steps), std::vector<size_t>{12});
  EXPECT_NEAR(measured.last.from.value, 100, 0.01);  // levels, not single labels
  EXPECT_NEAR(measured.last.to.value, 110, 0.01);
  EXPECT_EQ(measured.text.find("one measurement"), std::string::npos);
}

TEST(History, OfFewLabelsHasErrorsOfOneMeasurementAndSaysSo) {
  std::vector<double> values = scattered();
  values.resize(7);
  Measured measured(kTime, values);
  EXPECT_EQ(measured.changes(Compared::steps).size(), 6U);
  EXPECT_NE(measured.text.find("Errors are those of one measurement"), std::string::npos);
  measured.changes(Compared::setups);
  EXPECT_EQ(measured.text.find("one measurement"), std::string::npos);
}

TEST(History, OfExactCountsChangesWithEachCount) {
  std::vector<double> values(20, 100.0);
  values[9] = 101;
  Measured measured("instructions", values);
  EXPECT_EQ(measured.changes(Compared::steps), (std::vector<size_t>{9, 10}));
  EXPECT_EQ(measured.text.find("one measurement"), std::string::npos);
}

}  // namespace
}  // namespace culprit::scan
