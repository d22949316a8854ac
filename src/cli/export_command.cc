// `culprit export`: ask an opened profile for another tool's format, write it.

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/open_epochs.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "documents/html_file.h"
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
    case ExportFormat::html:
      return OutputKind::html;
    case ExportFormat::collapsed:
    case ExportFormat::autofdo:
    case ExportFormat::bolt:
      break;
  }
  return OutputKind::plain;
}

/// One file for a browser.
Result<std::string> export_page(const ProfileView& view, const ExportCommand& command) {
  const InterruptGuard guard;
  ProgressLine line;
  const Documents documents(view, command.file);
  HtmlFileOptions options;
  options.most_bytes = command.most_bytes;
  ASSIGN_OR_RETURN(HtmlFile file, make_html_file(documents, options, [&](size_t done, size_t all) {
                     line.show(fmt::format("{} of {} details", done, all));
                     return !guard.is_interrupted();
                   }));
  line.clear();
  if (file.functions_left_out > 0) {
    print_message(
        fmt::format("left out: the code of {} functions (--max-size)", file.functions_left_out));
  }
  if (file.scan_details_left_out > 0) {
    print_message(fmt::format("left out: {} details of cells and of pairs of them (--max-size)",
                              file.scan_details_left_out));
  }
  return std::move(file.html);
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
  const Result<std::string> text = command.question.to == ExportFormat::html
                                       ? export_page(*view, command)
                                       : answer_export(*view, command.question);
  if (!text) return fail(text.error());
  if (!view->problem().empty()) print_message(view->problem());
  if (const Result<void> written = output->write(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
