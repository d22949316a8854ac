#pragma once

// `report --columns hca`: the rows of a report with the branches of the tree of cycles as
// columns, in place of the events; or one branch with its groups and events.

#include <optional>

#include "model/profile.h"
#include "report/report.h"
#include "templates/template.h"

namespace culprit {

/// A report whose columns are costs. `head` stands in for the profile where it is printed:
/// its events are the columns.
struct CostReport {
  Profile head;
  ReportTable table;
};

/// All branches that this profile tells, or one branch in detail.
struct CostColumns {
  std::optional<CostBranch> detail;
};

/// `options`: as for make_report(); `sort` may name a column, limits are applied here.
/// Linear columns add up over the rows exactly as events do; the others are worked out anew for
/// each row, the rest and the total.
/// Errors: those of make_report(); a column to sort by that is not there
Result<CostReport> make_cost_report(const Profile& profile, const FactsLookup& facts,
                                    const Template& cpu, const ReportOptions& options,
                                    const CostColumns& columns);

}  // namespace culprit
