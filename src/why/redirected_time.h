#pragma once

// Time that samples and model put into different functions: what a mispredicted call (or jump) by
// pointer costs. The model charges it to the call; samples land behind it, on the first
// instructions of whichever function was fetched at last.
//
//                 modelled   measured   moved
//     areas          701 M      196 M   +505 M   p->area(), 532 M of it for mispredictions
//     circle's area   14 M      254 M   -152 M
//     ...

#include <map>
#include <string>

#include "attribute/attribution.h"
#include "report/measured_cycles.h"
#include "report/report.h"

namespace culprit {

/// Cycles to add to what was measured of functions, by name: of callers what their model has too
/// much, of their callees what was measured of these beyond their own model.
/// Shape:  of a table that is by module and function; the sum is 0. No caller has more than the
///         model charges for its mispredictions of such calls, and no function gets less than its
///         model
std::map<std::string, double> find_redirected_cycles(const Profile& profile,
                                                     const FactsLookup& facts, const TwoRuns& runs,
                                                     const ReportTable& table);

/// Moves the samples of the rows so. Units:  redirected [cycles]
void move_redirected_time(const std::map<std::string, double>& redirected, const TwoRuns& runs,
                          ReportTable& table);

}  // namespace culprit
