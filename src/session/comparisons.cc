#include "session/comparisons.h"

#include <algorithm>

#include "print/event_display.h"
#include "session/accounting_view.h"
#include "session/report_parts.h"

namespace culprit {
namespace {

/// Cycles are compared only where every run knows its clock.
Result<bool> do_all_have_clocks(const std::vector<std::string>& names, const OpenRun& open) {
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const ProfileView view, open(name));
    if (find_clock(view.profile().machine) == nullptr) return false;
  }
  return true;
}

}  // namespace

Result<ComparedFiles> compare_runs(const std::vector<std::string>& names, const OpenRun& open,
                                   const ComparisonQuestion& question) {
  if (!std::all_of(question.by.begin(), question.by.end(), can_be_compared)) {
    return Error{
        "addresses differ from build to build: compare by function, line, module, object, process, "
        "comm or thread"};
  }
  ASSIGN_OR_RETURN(const bool time_as_cycles, do_all_have_clocks(names, open));
  ReportOptions report;
  report.by = question.by;
  report.limit = 0;
  const FactParts parts = needed_parts(report);
  ComparedFiles out;
  std::vector<RunRows> runs;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const ProfileView view, open(name));
    ASSIGN_OR_RETURN(const AccountingView accounting, AccountingView::make(view, "", parts));
    const Profile& profile = accounting.profile();
    ASSIGN_OR_RETURN(const ReportTable table, make_report(profile, view.facts(parts), report));
    ASSIGN_OR_RETURN(RunRows run,
                     make_run_rows(profile, table, name, {question.event, time_as_cycles}));
    runs.push_back(std::move(run));
    out.costs.push_back(make_run_costs(profile, table, accounting.shared_cpu()));
    if (out.problem.empty()) out.problem = view.problem();
  }
  ASSIGN_OR_RETURN(out.rows, put_side_by_side(runs));
  return out;
}

}  // namespace culprit
