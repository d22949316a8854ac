#pragma once

// The values of an expression over a dimension, a series for each value of another: what tables
// and plots show.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/quantities.h"

namespace culprit::scan {

struct Question {
  std::string expression = "instructions";
  std::string over;  // "program", "setup" or a parameter; "": the first parameter that varies
  std::string by;    // the same; "": setup, or program where it is over setups
  std::vector<std::string> setups;    // patterns; "!PATTERN" leaves out; none: all
  std::vector<std::string> programs;  // likewise
  std::string base;                   // a series: values are ratios to it
  std::vector<std::string> expected;  // expressions that are drawn beside what was measured
  bool with_peak = false;             // what it can be at most, as one of these
};

/// Whether one of the patterns that do not begin with '!' matches, or there is none, and none of
/// the others.
bool is_wanted(const std::string& name, const std::vector<std::string>& patterns);

struct Mark {
  std::string x;
  std::optional<double> number;  // of x, where it is one
  std::optional<Estimate> value;
  bool varies = false;     // iterations differ: the value is a mean
  std::string missing;     // why there is no value: "build failed", "grows", "-"
  size_t cell = SIZE_MAX;  // of the cells; SIZE_MAX: there is none
};

struct Series {
  std::string name;
  std::vector<Mark> marks;   // in the order of Panel::xs
  bool is_expected = false;  // computed, of Question::expected
};

/// Series that are compared with each other: of one program, say.
struct Panel {
  std::string title;  // what distinguishes it; "" if there is only one
  std::vector<std::string> xs;
  std::vector<Series> series;
};

struct Answer {
  std::string expression;
  std::string title;
  std::string caveat;
  std::string over;
  std::string by;
  std::string base;
  std::string peak;  // an expression, the most that the values can be; "": not known
  std::optional<double> share_of_peak;  // of the best cell
  double peak_value = 0;                // of that cell's machine
  Provenance provenance = Provenance::counted;
  std::vector<Panel> panels;
  std::vector<std::string> failures;  // a line each, cells that have no value: what failed
  std::vector<std::string> idle;      // cells that neither load, store nor compute
};

/// What stands where a cell has no value: "build failed", "grows", "-". `costs`: nullptr where
/// nothing was measured.
std::string missing_word(const Cell& cell, const CellCosts* costs);

/// The dimensions of cells: program, setup, then their parameters.
std::vector<std::string> find_dimensions(const std::vector<Cell>& cells);

/// `costs` of each cell, parallel to `cells`.
/// Errors: as Quantities::parse(); no peak is known, or none of these cells; a dimension that no
/// cell has; nothing matches
Result<Answer> answer(const Question& question, const Quantities& quantities,
                      const std::vector<Cell>& cells,
                      const std::vector<std::optional<CellCosts>>& costs);

}  // namespace culprit::scan
