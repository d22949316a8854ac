#pragma once

// ComparedRows: the rows of many runs side by side, matched by their names.

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "compare/run_rows.h"

namespace culprit {

struct ComparedRow {
  ComparedKey key;
  std::vector<Value> runs;  // parallel to ComparedRows::names; no samples: it was not seen there
  std::vector<std::set<std::string>> functions = {};  // RunRows::functions, parallel to `runs`

  [[nodiscard]] double mean_samples() const;
};

struct ComparedRows {
  std::vector<std::string> names;  // of the runs
  Measure measure;
  std::vector<ComparedRow> rows;  // by key
  ComparedRow total;
  double per_sample = 0;  // the largest of any run
};

/// Errors: none; runs that measure different things
Result<ComparedRows> put_side_by_side(std::span<const RunRows> runs);

}  // namespace culprit
