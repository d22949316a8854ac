#pragma once

// Cells before and after: two setups, or the scan of two labels (versions of the source, dates).
// What has become better or worse, where, and why.

#include <map>
#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/result.h"
#include "base/text_style.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/quantities.h"

namespace culprit::scan {

/// A value of two cells that differs by more than both errors.
struct Change {
  size_t before = 0;  // of the cells
  size_t after = 0;
  Estimate from;
  Estimate to;
  std::string function = {};  // whose instructions differ most; "" if none do
  std::string cause = {};     // "rolled at kernel.cc:12"; "" if none stands out
};

/// What two cells of a pair differ in, beside what they were measured for.
enum class Compared {
  setups,
  labels,
  steps,  // labels, one after the other: with a level, they differ where it changes
};

struct Comparison {
  Compared compared = Compared::labels;
  std::string before;  // what the sides are called
  std::string after;
  std::vector<Change> changes;  // the worst first: values are costs
  size_t equal = 0;             // cells with the same value
  size_t unpaired = 0;          // cells that only one side has, or that have no value
  double mean_ratio = 1;        // geometric mean of after / before, of cells with values above 0
};

/// Of a cell that many labels measured (stats/steps.h): the errors of one measurement do not have
/// what the machine does between two.
struct Level {
  Estimate value;         // the geometric mean of the labels from one step to the next
  double scatter = 0;     // standard deviation of one label's value, as a part of it
  bool is_first = false;  // the label at which the level changed
};

/// All that the cells of a file are compared by. What it refers to must outlive it.
struct History {
  const Quantities& quantities;
  const Expression& expression;
  const std::vector<Cell>& cells;
  const std::vector<std::optional<CellCosts>>& costs;
  std::map<size_t, Level> levels = {};  // of cells, as find_levels() has them; else of none
};

/// Of cells that kLeastSeries labels or more have, if the values are measured times.
std::map<size_t, Level> find_levels(const History& history);

/// Functions and causes are not looked for.
Comparison compare_cells(const History& history, const std::vector<size_t>& before,
                         const std::vector<size_t>& after, Compared compared);

/// Finds the function and the cause of a change.
void explain_change(const History& history, CodeIndex& code, Change& change);

/// Labels of cells, the one that was measured first first.
std::vector<std::string> find_labels(const std::vector<Cell>& cells);

/// `limit`: of changes; 0: all.
std::string print_comparison(const Comparison& comparison, const History& history, size_t limit,
                             const TextStyle& style);
/// Schema: culprit-scan-diff-1
std::string print_comparison_json(const Comparison& comparison, const History& history);

/// A label, and what changed since the one before it.
struct TrendStep {
  std::string label;
  std::string date;  // when its cells were measured first; "-": not known
  size_t cells = 0;
  Comparison comparison;  // nothing, for the first label
};

/// `limit`: of changes at each label; 0: all.
std::string print_trend(const std::vector<TrendStep>& steps, const History& history, size_t limit,
                        const TextStyle& style);
/// Schema: culprit-scan-trend-1
std::string print_trend_json(const std::vector<TrendStep>& steps, const History& history);

}  // namespace culprit::scan
