#pragma once

// What a plan expects of each cell, held against what was measured: a kernel that loads nothing was
// optimised away.

#include <string>
#include <vector>

#include "base/result.h"
#include "scan/plan.h"
#include "scan/quantities.h"

namespace culprit::scan {

struct Broken {
  size_t cell = 0;
  std::string text;        // "loads >= DIM: 0 is not >= 5"
  bool is_advice = false;  // a rule of kernels that this one may break on purpose
};

/// Reads the expectations as check_expectations() will, before anything is run. `events`: what
/// cells will have counted. Errors: the first that names what no cell will have, with the plan's
/// line
Result<void> read_expectations(const Plan& plan, const std::vector<std::string>& events,
                               const std::vector<Preset>& presets);

/// Cells without a value on both sides are not judged.
/// Errors: an expression that cannot be read, with the plan's line
Result<std::vector<Broken>> check_expectations(const Plan& plan, const Quantities& quantities,
                                               const std::vector<Cell>& cells,
                                               const std::vector<std::optional<CellCosts>>& costs);

}  // namespace culprit::scan
