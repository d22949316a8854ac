// `culprit report`, `annotate`, `locality`, `data` and `why`: ask an opened profile, print the
// answer.

#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/open_epochs.h"
#include "cli/terminal.h"
#include "session/answers.h"
#include "session/sampled_data.h"

namespace culprit {

namespace {

/// What was wrong with the facts, if anything was, and the text.
int print_result(const std::string& problem, const std::string& text, Format format) {
  if (!problem.empty()) print_message(problem);
  const Result<void> written = format == Format::text ? write_paged(text) : write_output(text);
  return written ? 0 : fail(written.error());
}

/// Text ends with the next step.
Result<ReportAnswer> answer_for(const ProfileView& view, ReportQuestion question, Format format) {
  question.report.names_hottest = format == Format::text;
  return answer_report(view, question);
}

}  // namespace

int run(const ReportCommand& command) {
  Result<ProfileView> view = open_profile(command.file, command.epochs);
  if (!view) return fail(view.error());
  const TextStyle style = style_of(command.width, command.file, command.epochs);
  if (command.never) {
    const ReportOptions& options = command.question.report;
    const Result<NeverReport> answer = answer_never(*view, options.filters);
    if (!answer) return fail(answer.error());
    return print_result(view->problem(),
                        print_never(view->profile(), *answer, options.limit, command.format, style),
                        command.format);
  }
  const Result<ReportAnswer> answer = answer_for(*view, command.question, command.format);
  if (!answer) return fail(answer.error());
  return print_result(view->problem(), print_answer(*answer, command.format, style),
                      command.format);
}

int run(const TopInstructionsCommand& command) {
  return run(command.report);
}

int run(const AnnotateCommand& command) {
  Result<ProfileView> view = open_profile(command.file, command.epochs);
  if (!view) return fail(view.error());
  const Result<Annotation> answer = answer_annotation(*view, command.question);
  if (!answer) return fail(answer.error());
  return print_result(view->problem(),
                      print_annotation(view->profile(), *answer, command.question, command.format,
                                       style_of(command.width, command.file, command.epochs)),
                      command.format);
}

int run(const LocalityCommand& command) {
  Result<ProfileView> view = ProfileView::open(command.file);
  if (!view) return fail(view.error());
  const Result<LocalityReport> answer = answer_locality(*view, command.question);
  if (!answer) return fail(answer.error());
  return print_result(view->problem(),
                      print_locality(view->profile(), *answer, command.format,
                                     standard_output_style(command.width, command.file)),
                      command.format);
}

int run(const DataCommand& command) {
  Result<ProfileView> view = ProfileView::open(command.file);
  if (!view) return fail(view.error());
  if (const auto sampled = find_sampled_data(view->profile(), command.question)) {
    const Result<ReportAnswer> answer = answer_for(*view, *sampled, command.format);
    if (!answer) return fail(answer.error());
    if (answer->table.rows.empty() && !command.question.object.empty()) {
      return fail(Error{fmt::format("no data object here is '{}' (culprit data lists them)",
                                    printable(command.question.object))});
    }
    return print_result(
        view->problem(),
        print_answer(*answer, command.format, standard_output_style(command.width, command.file)),
        command.format);
  }
  const Result<DataReport> answer = answer_data(*view, command.question);
  if (!answer) return fail(answer.error());
  return print_result(view->problem(),
                      print_data(view->profile(), *answer, command.format,
                                 standard_output_style(command.width, command.file)),
                      command.format);
}

int run(const WhyCommand& command) {
  const TextStyle style = style_of(command.width, command.files.front(), command.epochs);
  Result<ProfileView> view = open_profile(command.files.front(), command.epochs);
  if (!view) return fail(view.error());
  if (command.stalls) {
    const Result<StallSummary> answer =
        answer_stalls(*view, command.question.cpu, command.question.part);
    if (!answer) return fail(answer.error());
    return print_result(view->problem(),
                        print_stall_summary(view->profile(), *answer, command.format, style),
                        command.format);
  }
  const Result<WhyAnswer> first = answer_why(*view, command.question);
  if (!first) return fail(first.error());
  if (command.files.size() == 1) {
    return print_result(
        view->problem(),
        print_why(first->profile(), first->cpu(), first->why, command.format, style),
        command.format);
  }
  Result<ProfileView> other = open_compared(command.files[1], {});
  if (!other) return fail(other.error());
  const Result<WhyAnswer> second = answer_why(*other, command.question);
  if (!second) return fail(second.error());
  const WhySide a{&first->profile(), &first->cpu(), &first->why, command.files[0]};
  const WhySide b{&second->profile(), &second->cpu(), &second->why, command.files[1]};
  return print_result(view->problem().empty() ? other->problem() : view->problem(),
                      print_why_both(a, b, command.format, style), command.format);
}

}  // namespace culprit
