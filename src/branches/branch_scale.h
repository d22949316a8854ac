#pragma once

// What one branch record stands for.
//
// A sample every P taken branches, each with a record of D of them, has D - 1 straight runs:
// each record stands for P / D taken branches, each run for P / (D - 1). Samples of anything
// else (cycles, time) fall where that happens, not where branches do: then a record stands
// for itself, and counts may be compared only roughly.
//
// A simulator misses no branch: its rows are what happened.

#include <string>

#include "model/profile.h"

namespace culprit {

struct BranchScale {
  double per_branch = 1;   // taken branches per record of one
  double per_run = 1;      // straight runs per recorded run
  double depth = 1;        // records per sample, at least 1
  bool is_exact = false;   // nothing was sampled: all are counted
  bool is_scaled = false;  // false: values are counts of records
  std::string reason;      // why not; "" if they are
};

/// Units:  branch records [count], period [taken branches per sample] -> [taken branches]
/// Errors: is_scaled is false unless exactly one event was sampled, which counts taken
///         branches at a fixed period, and no kind of branch was left out
BranchScale find_branch_scale(const Profile& profile);

/// Whether an event, as perf or a user names it, counts retired taken branches.
bool counts_taken_branches(const std::string& name, const std::string& encoding,
                           const std::string& cpu_model);

}  // namespace culprit
