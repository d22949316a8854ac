#pragma once

// Questions about several profiles: what changed between two groups of runs, and what varies in
// one. Each file is a run; they are read one after the other, and only their rows are kept.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compare/causes.h"
#include "session/profile_view.h"

namespace culprit {

struct ComparisonQuestion {
  std::vector<RowLevel> by = {RowLevel::function};
  std::string event;  // "": the first of each
  DifferenceOptions options;
  size_t base_runs = 0;  // so many of the runs are of the old program, the others of the new; 0:
                         // all are of one
};

struct ComparedFiles {
  ComparedRows rows;
  std::vector<RunCosts> costs;  // of each run
  std::string problem;          // damaged facts of one of them; "": none
};

using OpenRun = std::function<Result<ProfileView>(const std::string& name)>;

/// Each of `names` is a run, which `open` opens: files, or epochs of a database. Of two programs
/// functions that only one has are matched by the shape of their code.
/// Errors: a file that cannot be read; runs that measure different things; a level that has no
///         names over builds (block, instruction)
Result<ComparedFiles> compare_runs(const std::vector<std::string>& names, const OpenRun& open,
                                   const ComparisonQuestion& question);

}  // namespace culprit
