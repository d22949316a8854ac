#pragma once

// Why the curves of two setups over a size differ: ranges of one cause, and spikes.
//
//     DIM     A         B         first cause
//     1-4     6 to 9    6 to 17   the same work, copied (B)
//     5-16    41 to 62  12 to 27  A computes one number at a time where B computes several

#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/text_style.h"
#include "scan/causes.h"
#include "scan/cells.h"
#include "scan/costs.h"

namespace culprit::scan {

/// Cells of one program with two setups at one size; both have costs.
struct CurvePoint {
  std::string x;
  size_t a = 0;  // of the cells
  size_t b = 0;
};

/// Neighbouring sizes whose difference has the same first cause.
struct CurveRange {
  size_t first = 0;  // of the points
  size_t last = 0;
  bool is_equal = false;  // both cost the same, and every event is equal
  Cause cause = {};       // at the place where it weighs most; without a name: none stands out
};

/// A size at which one setup costs more than at both of its neighbours, and by more than a quarter
/// than what lies between them.
struct Spike {
  bool of_a = false;
  size_t point = 0;
  double value = 0;    // of the event
  double between = 0;  // what its neighbours say, by a line between them
  Cause cause = {};    // beside the next size; without a name: none stands out
};

struct CurveExplanation {
  std::string program;
  std::string a;  // setups
  std::string b;
  std::string over;
  std::string event;  // what the curves are of: "sim:cycles" where there is a model
  std::vector<CurvePoint> points;
  std::vector<Estimate> values_a;
  std::vector<Estimate> values_b;
  std::vector<CurveRange> ranges;
  std::vector<Spike> spikes;
};

/// `out` has its names and points; the rest is filled in.
void explain_curves(const std::vector<Cell>& cells,
                    const std::vector<std::optional<CellCosts>>& costs, CodeIndex& code,
                    CurveExplanation& out);

std::string print_curves(const CurveExplanation& curves, const TextStyle& style);
/// Schema: culprit-scan-curves-1
std::string print_curves_json(const CurveExplanation& curves);

}  // namespace culprit::scan
