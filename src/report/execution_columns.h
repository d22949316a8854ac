#pragma once

// `--columns executions`: what a table shows of a profile with_branch_events(). Sums come
// from its events; what is not a sum is computed anew at each row:
//
//     ~executed  ~share   +-    ~calls  ~instr/call  ~mispredicted  function
//        3.35 G  82.3 %  0.5    12.0 M          279         1.20 %  grind

#include "base/result.h"
#include "model/profile.h"
#include "report/report.h"

namespace culprit {

/// Chooses the columns of `table`, whose values are filled in, by its levels.
/// Errors: the profile has no events of branch records; a tree was asked for.
Result<void> add_execution_columns(const Profile& profile, ReportTable& table);

}  // namespace culprit
