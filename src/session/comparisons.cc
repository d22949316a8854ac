#include "session/comparisons.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "print/event_display.h"
#include "session/accounting_view.h"
#include "session/function_shapes.h"
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

/// What `some` has, and `others` has not.
std::set<std::string> only_in(const std::set<std::string>& some,
                              const std::set<std::string>& others) {
  std::set<std::string> only;
  std::ranges::set_difference(some, others, std::inserter(only, only.end()));
  only.erase("");
  return only;
}

/// From new names to old ones, of functions of the first run of each group.
Result<std::map<std::string, std::string>> find_renamed(const std::vector<std::string>& names,
                                                        const OpenRun& open, size_t base_runs,
                                                        std::span<const RunRows> runs,
                                                        size_t level) {
  const std::set<std::string> base = names_at(runs.first(base_runs), level);
  const std::set<std::string> now = names_at(runs.subspan(base_runs), level);
  const std::set<std::string> gone = only_in(base, now);
  const std::set<std::string> fresh = only_in(now, base);
  if (gone.empty() || fresh.empty()) return std::map<std::string, std::string>();
  ASSIGN_OR_RETURN(const ProfileView old_view, open(names.front()));
  ASSIGN_OR_RETURN(const ProfileView new_view, open(names[base_runs]));
  return match_renamed(find_function_shapes(old_view, gone, find_builds(new_view.profile())),
                       find_function_shapes(new_view, fresh, find_builds(old_view.profile())));
}

Result<void> match_functions(const std::vector<std::string>& names, const OpenRun& open,
                             const ComparisonQuestion& question, std::span<RunRows> runs,
                             std::span<RunCosts> costs) {
  const auto function = std::ranges::find(question.by, RowLevel::function);
  if (question.base_runs == 0 || function == question.by.end()) return {};
  const auto level = static_cast<size_t>(function - question.by.begin());
  ASSIGN_OR_RETURN(const auto renamed, find_renamed(names, open, question.base_runs, runs, level));
  if (renamed.empty()) return {};
  for (size_t run = question.base_runs; run < runs.size(); ++run) {
    rename_functions(renamed, level, runs[run], costs[run]);
  }
  return {};
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
  RETURN_IF_ERROR(match_functions(names, open, question, runs, out.costs));
  ASSIGN_OR_RETURN(out.rows, put_side_by_side(runs));
  return out;
}

}  // namespace culprit
