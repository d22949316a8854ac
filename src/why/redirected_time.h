#pragma once

// Time that samples and model put into different functions: what a mispredicted call (or jump) by
// pointer costs. The model charges it to the call; samples land behind it, on the first
// instructions of whichever function was fetched at last.
//
//                 modelled   measured   moved
//     areas          701 M      196 M   +505 M   p->area(), 532 M of it for mispredictions
//     circle's area   14 M      254 M   -152 M
//     ...
//
// What callees have beyond their model then, the model lacks in callers and callees together: it
// may be the mispredictions', where the model has too few cycles for each, or the callees' own.

#include <map>
#include <string>

#include "attribute/attribution.h"
#include "report/measured_cycles.h"
#include "report/report.h"

namespace culprit {

struct RedirectedCycles {
  /// To add to what was measured of functions, by name: of callers what their model has too much,
  /// of their callees what was measured of these beyond their own model. The sum is 0.
  std::map<std::string, double> moved;
  /// By caller and callee: what stays measured of the callee beyond its model, shared out among its
  /// callers by what the model charges for their mispredictions.
  std::map<std::string, std::map<std::string, double>> beyond;
};

/// Shape:  of a table that is by module and function. No caller gets more than the model charges
///         for its mispredictions of such calls, and no function is left less than its model
RedirectedCycles find_redirected_cycles(const Profile& profile, const FactsLookup& facts,
                                        const TwoRuns& runs, const ReportTable& table);

/// Moves the samples of the rows so. Units:  redirected [cycles]
void move_redirected_time(const std::map<std::string, double>& redirected, const TwoRuns& runs,
                          ReportTable& table);

}  // namespace culprit
