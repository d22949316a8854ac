// `culprit diff` and `culprit variance`: several profiles, one answer.

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/open_epochs.h"
#include "cli/terminal.h"
#include "compare/print_comparison.h"
#include "session/comparisons.h"

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
  if (!epochs.is_chosen) return [](const std::string& file) { return ProfileView::open(file); };
  return [&epochs](const std::string& name) { return open_epoch_run(epochs, name); };
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
  if (const Result<void> chosen = choose_groups(command); !chosen) return fail(chosen.error());
  std::vector<std::string> files = command.base;
  files.insert(files.end(), command.fresh.begin(), command.fresh.end());
  const Result<ComparedFiles> compared =
      compare_runs(files, opener_of(command.epochs), command.question);
  if (!compared) return fail(compared.error());
  const Difference difference =
      find_difference(compared->rows, command.base.size(), command.question.options);
  const std::string text =
      print_difference({compared->rows, command.question.by, command.limit}, difference,
                       command.format, standard_output_style(command.width));
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
  const Result<ComparedFiles> compared =
      compare_runs(files, opener_of(command.epochs), command.question);
  if (!compared) return fail(compared.error());
  const RunVariance variance =
      find_variance(compared->rows, command.question.options.least_samples);
  const std::string text =
      print_variance({compared->rows, command.question.by, command.limit}, variance, command.format,
                     standard_output_style(command.width));
  const auto printed = print(compared->problem, text, command.format);
  return printed ? 0 : fail(printed.error());
}

}  // namespace culprit
