// `culprit export`: read a profile, turn it into another tool's format, write it.

#include <cerrno>
#include <cstdio>
#include <unistd.h>

#include "exports/exports.h"

#include "cli/commands.h"
#include "cli/profile_view.h"
#include "cli/terminal.h"

namespace culprit {

namespace {

bool to_standard_output(const ExportCommand& command) {
  return command.output.empty() || command.output == "-";
}

/// Loads only the facts that the format needs.
FactParts needed_parts(ExportFormat format) {
  FactParts parts;
  parts.lines = format != ExportFormat::collapsed;
  parts.blocks = false;
  parts.code = format == ExportFormat::dot;
  parts.sources = false;
  return parts;
}

/// `text` to the file, or to standard output.
Result<void> write_to(const ExportCommand& command, const std::string& text) {
  if (to_standard_output(command)) return write_output(text);
  const std::string& path = command.output;
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return errno_error("cannot write '" + path + "'", errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  if (std::fclose(file) != 0 || !written) {
    return errno_error("cannot write '" + path + "'", written ? errno : write_error);
  }
  return {};
}

Result<std::string> every_address(ProfileView& view, Format format) {
  ReportOptions options;
  options.by = {Level::process,  Level::thread, Level::module,
                Level::function, Level::line,   Level::instruction};
  options.limit = 0;
  ASSIGN_OR_RETURN(const ReportTable table, make_report(view.profile(), view.facts(), options));
  return print_report(view.profile(), table, format, {});
}

Result<std::string> export_text(ProfileView& view, const ExportCommand& command) {
  const Profile& profile = view.profile();
  const FactsLookup facts = view.facts();
  switch (command.to) {
    case ExportFormat::collapsed:
      return export_collapsed(profile, facts);
    case ExportFormat::pprof:
      return export_pprof(profile, facts);
    case ExportFormat::callgrind:
      return export_callgrind(profile, facts);
    case ExportFormat::autofdo:
      return export_autofdo(profile, facts, command.image);
    case ExportFormat::bolt:
      return export_bolt(profile, facts, command.image);
    case ExportFormat::dot:
      if (command.function.empty()) {
        return export_call_graph(profile, facts,
                                 {command.image, command.limit, command.minimum_percent});
      }
      return export_dot(profile, facts, command.function, command.image);
    case ExportFormat::json:
      return every_address(view, Format::json);
    case ExportFormat::csv:
      break;
  }
  return every_address(view, Format::csv);
}

}  // namespace

int run_export(const ExportCommand& command) {
  if (command.to == ExportFormat::pprof && to_standard_output(command) && ::isatty(1) == 1) {
    return fail(Error{"a pprof profile is gzip'd bytes, nothing for a terminal\n"
                      "give -o FILE, like -o profile.pb.gz"},
                2);
  }
  Result<ProfileView> view = ProfileView::open(command.file, needed_parts(command.to));
  if (!view) return fail(view.error());
  const Result<std::string> text = export_text(*view, command);
  if (!text) return fail(text.error());
  if (!view->problem().empty()) print_message(view->problem());
  if (const Result<void> written = write_to(command, *text); !written) {
    return fail(written.error());
  }
  return 0;
}

}  // namespace culprit
