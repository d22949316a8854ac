// `culprit diff` and `culprit variance`: several profiles, one answer.

#include "cli/commands.h"
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

}  // namespace

int run(const DiffCommand& command) {
  std::vector<std::string> files = command.base;
  files.insert(files.end(), command.fresh.begin(), command.fresh.end());
  const Result<ComparedFiles> compared = compare_files(files, command.question);
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
  const Result<ComparedFiles> compared = compare_files(command.files, command.question);
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
