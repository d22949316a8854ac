// `culprit report` and `annotate`: read a profile, make a table, print it.

#include <algorithm>

#include "branches/branch_events.h"

#include "cli/accounting_view.h"
#include "cli/commands.h"
#include "cli/profile_view.h"
#include "cli/terminal.h"

namespace culprit {

namespace {

bool has_level(const ReportOptions& options, Level level) {
  const auto is_level = [level](const Filter& filter) { return filter.level == level; };
  return std::find(options.by.begin(), options.by.end(), level) != options.by.end() ||
         std::any_of(options.filters.begin(), options.filters.end(), is_level);
}

/// Loads only the facts that the report will look at.
FactParts needed_parts(const ReportOptions& options) {
  const bool names = has_level(options, Level::function) || options.tree != Tree::none;
  FactParts parts;
  parts.lines = has_level(options, Level::line) || has_level(options, Level::instruction);
  parts.inlines = parts.lines || names;
  parts.blocks = has_level(options, Level::block);
  parts.functions = parts.inlines || parts.blocks;
  parts.code = options.columns == Columns::executions;
  if (parts.code) parts.functions = parts.inlines = true;
  parts.sources = false;
  return parts;
}

/// Prints the text, and what was wrong with the facts, if anything was.
int print_result(const ProfileView& view, const Result<std::string>& text) {
  if (!text) return fail(text.error());
  if (!view.problem().empty()) print_message(view.problem());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

Result<std::string> make_text(ProfileView& view, const Profile& profile,
                              const ReportCommand& command) {
  ASSIGN_OR_RETURN(const ReportTable table, make_report(profile, view.facts(), command.report));
  return print_report(profile, table, command.format,
                      standard_output_style(command.width, command.file));
}

Result<std::string> make_cost_text(ProfileView& view, const ReportCommand& command) {
  ASSIGN_OR_RETURN(const AccountingView accounting, AccountingView::make(view, command.cpu));
  ASSIGN_OR_RETURN(const CostReport costs,
                   make_cost_report(accounting.profile(), view.facts(), accounting.cpu(),
                                    command.report, command.costs));
  return print_report(costs.head, costs.table, command.format,
                      standard_output_style(command.width, command.file));
}

}  // namespace

int run_report(const ReportCommand& command) {
  Result<ProfileView> view = ProfileView::open(command.file, needed_parts(command.report));
  if (!view) return fail(view.error());
  if (command.report.columns == Columns::events) {
    return print_result(*view, make_text(*view, view->profile(), command));
  }
  if (command.report.columns == Columns::hca) {
    return print_result(*view, make_cost_text(*view, command));
  }
  const Result<Profile> executions = with_branch_events(view->profile(), view->facts());
  if (!executions) return fail(executions.error());
  return print_result(*view, make_text(*view, *executions, command));
}

int run_annotate(const AnnotateCommand& command) {
  FactParts parts;
  parts.blocks = false;  // they come with the decoded text
  Result<ProfileView> view = ProfileView::open(command.file, parts);
  if (!view) return fail(view.error());
  return print_result(*view,
                      annotate(view->profile(), view->facts(), command.annotate, command.format,
                               standard_output_style(command.width, command.file)));
}

}  // namespace culprit
