// `culprit why`: the tree of cycles of a profile, of a part of it, or of two profiles.

#include <fmt/format.h>
#include <memory>
#include <optional>

#include "cli/accounting_view.h"
#include "cli/commands.h"
#include "cli/profile_view.h"
#include "cli/terminal.h"

namespace culprit {
namespace {

/// A profile, its template, and its tree, which points into both.
struct Explained {
  std::unique_ptr<ProfileView> view;
  std::unique_ptr<AccountingView> accounting;
  WhyReport why;

  [[nodiscard]] const Profile& profile() const { return accounting->profile(); }
  [[nodiscard]] const Template& cpu() const { return accounting->cpu(); }
};

/// Everything about code: advice names functions and lines.
FactParts needed_parts() {
  FactParts parts;
  parts.blocks = false;
  parts.code = false;
  parts.sources = false;
  return parts;
}

/// `--in`: a function, else a module.
Result<WhyReport> explain_part(const AccountingView& accounting, const FactsLookup& facts,
                               const WhyCommand& command) {
  const Profile& profile = accounting.profile();
  const Template& cpu = accounting.cpu();
  WhyOptions options = command.why;
  if (command.part.empty()) return make_why(profile, facts, cpu, options);
  if (profile.histograms.empty()) {
    return Error{"counts of whole runs have no parts: --in needs a recording"};
  }
  options.filters = {{Level::function, command.part}};
  Result<WhyReport> of_function = make_why(profile, facts, cpu, options);
  if (of_function) return of_function;
  options.filters = {{Level::module, command.part}};
  Result<WhyReport> of_module = make_why(profile, facts, cpu, options);
  if (of_module) return of_module;
  return Error{fmt::format("no function and no module here is '{}' (culprit report lists them)",
                           command.part)};
}

Result<Explained> explain(const std::string& file, const WhyCommand& command) {
  ASSIGN_OR_RETURN(ProfileView view, ProfileView::open(file, needed_parts()));
  Explained explained;
  explained.view = std::make_unique<ProfileView>(std::move(view));
  ASSIGN_OR_RETURN(AccountingView accounting, AccountingView::make(*explained.view, command.cpu));
  explained.accounting = std::make_unique<AccountingView>(std::move(accounting));
  ASSIGN_OR_RETURN(explained.why,
                   explain_part(*explained.accounting, explained.view->facts(), command));
  return explained;
}

}  // namespace

int run_why(const WhyCommand& command) {
  const Result<Explained> first = explain(command.files.front(), command);
  if (!first) return fail(first.error());
  const TextStyle style = standard_output_style(command.width, command.files.front());
  std::string text;
  std::string problem = first->view->problem();
  if (command.files.size() == 1) {
    text = print_why(first->profile(), first->cpu(), first->why, command.format, style);
  } else {
    const Result<Explained> second = explain(command.files[1], command);
    if (!second) return fail(second.error());
    const WhySide a{&first->profile(), &first->cpu(), &first->why, command.files[0]};
    const WhySide b{&second->profile(), &second->cpu(), &second->why, command.files[1]};
    text = print_why_both(a, b, command.format, style);
    if (problem.empty()) problem = second->view->problem();
  }
  if (!problem.empty()) print_message(problem);
  if (const Result<void> written = write_output(text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
