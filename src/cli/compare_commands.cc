// `culprit diff` and `culprit variance`: several profiles, one answer.

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/open_epochs.h"
#include "cli/terminal.h"
#include "compare/print_comparison.h"
#include "model/labelled_runs.h"
#include "session/comparisons.h"
#include "session/labelled_view.h"

namespace culprit {
namespace {

constexpr int kAboveLimit = 3;  // --fail-above

Result<void> print(const std::string& problem, const std::string& text, Format format) {
  if (!problem.empty()) print_message(problem);
  return format == Format::text ? write_paged(text) : write_output(text);
}

void remark_left_out(size_t epochs) {
  print_message(fmt::format("{} epochs are left out: not finished, or of another length", epochs));
}

/// Opens what is compared: files, or epochs of the database that was chosen.
OpenRun opener_of(const EpochChoice& epochs) {
  return [&epochs](const std::string& name) {
    return epochs.is_chosen ? open_epoch_run(epochs, name) : open_compared(name, epochs.filters);
  };
}

/// The runs of one file, in which several are told apart by label.
Result<std::vector<LabelledRun>> list_runs(const std::string& file) {
  ASSIGN_OR_RETURN(const ProfileView view, ProfileView::open(file));
  std::vector<LabelledRun> runs = find_labelled_runs(view.profile());
  if (runs.size() < 2) {
    return Error{in_quotes(file) +
                 " holds one run: culprit record -r N, or --compare, makes a profile of several; "
                 "or name another profile"};
  }
  return runs;
}

OpenRun opener_of(const std::string& file, const EpochChoice& epochs) {
  return [file, &epochs](const std::string& name) {
    return open_labelled_run(file, name, epochs.filters);
  };
}

/// What the file of `record --compare` holds, as two groups: the version that came first, and the
/// second.
Result<void> choose_versions(DiffCommand& command) {
  ASSIGN_OR_RETURN(const std::vector<LabelledRun> runs, list_runs(command.files.front()));
  std::vector<std::string> versions;
  for (const LabelledRun& run : runs) {
    if (std::find(versions.begin(), versions.end(), run.version) == versions.end()) {
      versions.push_back(run.version);
    }
  }
  if (versions.size() != 2) {
    return Error{fmt::format("{} holds runs of {} versions: two are compared{}",
                             in_quotes(command.files.front()), versions.size(),
                             versions.size() == 1 ? " (culprit variance shows what varies)" : "")};
  }
  for (const LabelledRun& run : runs) {
    (run.version == versions[0] ? command.base : command.fresh).push_back(run.name);
  }
  return {};
}

/// What --since and --to choose, as the files of two groups.
Result<void> choose_groups(DiffCommand& command) {
  if (!command.epochs.is_chosen) return {};
  ASSIGN_OR_RETURN(EpochRuns runs, find_epoch_runs(command.epochs, true));
  if (runs.left_out != 0) remark_left_out(runs.left_out);
  command.base = std::move(runs.before);
  command.fresh = std::move(runs.after);
  return {};
}

}  // namespace

int run(const DiffCommand& asked) {
  DiffCommand command = asked;
  const bool is_one_file = !command.epochs.is_chosen && command.files.size() == 1;
  if (is_one_file) {
    if (const Result<void> chosen = choose_versions(command); !chosen) return fail(chosen.error());
  }
  if (const Result<void> chosen = choose_groups(command); !chosen) return fail(chosen.error());
  std::vector<std::string> files = command.base;
  files.insert(files.end(), command.fresh.begin(), command.fresh.end());
  const OpenRun open =
      is_one_file ? opener_of(command.files.front(), command.epochs) : opener_of(command.epochs);
  command.question.base_runs = command.base.size();
  const Result<ComparedFiles> compared = compare_runs(files, open, command.question);
  if (!compared) return fail(compared.error());
  if (const auto any = check_compared(command.epochs, !compared->rows.rows.empty()); !any) {
    return fail(any.error());
  }
  Difference difference =
      find_difference(compared->rows, command.base.size(), command.question.options);
  add_causes(compared->costs, command.base.size(), difference);
  const std::string text =
      print_difference({compared->rows, command.question.by, command.limit, !is_one_file},
                       difference, command.format, standard_output_style(command.width));
  if (const auto printed = print(compared->problem, text, command.format); !printed) {
    return fail(printed.error());
  }
  const bool fails = command.fail_above && is_above(difference, *command.fail_above / 100);
  return fails ? kAboveLimit : 0;
}

int run(const VarianceCommand& command) {
  std::vector<std::string> files = command.files;
  if (command.epochs.is_chosen) {
    Result<EpochRuns> runs = find_epoch_runs(command.epochs, false);
    if (!runs) return fail(runs.error());
    if (runs->left_out != 0) remark_left_out(runs->left_out);
    files = std::move(runs->before);
  }
  OpenRun open = opener_of(command.epochs);
  const bool is_one_file = !command.epochs.is_chosen && files.size() == 1;
  if (is_one_file) {
    const Result<std::vector<LabelledRun>> runs = list_runs(files.front());
    if (!runs) return fail(runs.error());
    open = opener_of(files.front(), command.epochs);
    files.clear();
    for (const LabelledRun& run : *runs) files.push_back(run.name);
  }
  const Result<ComparedFiles> compared = compare_runs(files, open, command.question);
  if (!compared) return fail(compared.error());
  if (const auto any = check_compared(command.epochs, !compared->rows.rows.empty()); !any) {
    return fail(any.error());
  }
  const RunVariance variance =
      find_variance(compared->rows, command.question.options.least_samples);
  Difference extremes = compare_extremes(compared->rows, variance);
  const std::array<RunCosts, 2> costs{compared->costs[variance.fastest],
                                      compared->costs[variance.slowest]};
  add_causes(costs, 1, extremes);
  const std::string text =
      print_variance({compared->rows, command.question.by, command.limit, !is_one_file}, variance,
                     extremes, command.format, standard_output_style(command.width));
  const auto printed = print(compared->problem, text, command.format);
  return printed ? 0 : fail(printed.error());
}

}  // namespace culprit
