// `culprit export`: ask an opened profile for another tool's format, write it.

#include "cli/commands.h"
#include "cli/open_epochs.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "session/answers.h"

namespace culprit {

namespace {

OutputKind kind_of(ExportFormat format) {
  switch (format) {
    case ExportFormat::pprof:
      return OutputKind::pprof;
    case ExportFormat::callgrind:
      return OutputKind::callgrind;
    case ExportFormat::dot:
      return OutputKind::dot;
    case ExportFormat::json:
      return OutputKind::report_json;
    case ExportFormat::csv:
      return OutputKind::report_csv;
    case ExportFormat::collapsed:
    case ExportFormat::autofdo:
    case ExportFormat::bolt:
      break;
  }
  return OutputKind::plain;
}

}  // namespace

int run(const ExportCommand& command) {
  Result<OutputStream> output = OutputStream::open(
      {command.output, kind_of(command.question.to), command.force, {command.file}});
  if (!output) return fail(output.error());
  if (command.question.to == ExportFormat::pprof && output->is_terminal()) {
    return fail(Error{"a pprof profile is gzip'd bytes, nothing for a terminal\n"
                      "give -o FILE, like -o profile.pb.gz"},
                2);
  }
  Result<ProfileView> view = open_profile(command.file, command.epochs);
  if (!view) return fail(view.error());
  const Result<std::string> text = answer_export(*view, command.question);
  if (!text) return fail(text.error());
  if (!view->problem().empty()) print_message(view->problem());
  if (const Result<void> written = output->write(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
