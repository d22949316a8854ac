// `culprit report`, `annotate` and `export`: read a profile, make a table, print it.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>

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
  parts.code = false;
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

/// `text` to the file, or to standard output for "" and "-".
Result<void> write_to(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") return write_output(text);
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return errno_error("cannot write '" + path + "'", errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int write_error = errno;
  if (std::fclose(file) != 0 || !written) {
    return errno_error("cannot write '" + path + "'", written ? errno : write_error);
  }
  return {};
}

Result<std::string> export_text(ProfileView& view, ExportFormat to) {
  if (to == ExportFormat::collapsed) return export_collapsed(view.profile(), view.facts());
  ReportOptions every_address;
  every_address.by = {Level::process,  Level::thread, Level::module,
                      Level::function, Level::line,   Level::instruction};
  every_address.limit = 0;
  ASSIGN_OR_RETURN(const ReportTable table,
                   make_report(view.profile(), view.facts(), every_address));
  return print_report(view.profile(), table, to == ExportFormat::json ? Format::json : Format::csv,
                      {});
}

}  // namespace

int run_report(const ReportCommand& command) {
  Result<ProfileView> view = ProfileView::open(command.file, needed_parts(command.report));
  if (!view) return fail(view.error());
  const Result<ReportTable> table = make_report(view->profile(), view->facts(), command.report);
  if (!table) return fail(table.error());
  return print_result(*view, print_report(view->profile(), *table, command.format,
                                          standard_output_style(command.width)));
}

int run_annotate(const AnnotateCommand& command) {
  FactParts parts;
  parts.blocks = false;  // they come with the decoded text
  Result<ProfileView> view = ProfileView::open(command.file, parts);
  if (!view) return fail(view.error());
  return print_result(*view, annotate(view->profile(), view->facts(), command.annotate,
                                      command.format, standard_output_style(command.width)));
}

int run_export(const ExportCommand& command) {
  FactParts parts;
  parts.lines = command.to != ExportFormat::collapsed;
  parts.blocks = false;
  parts.code = false;
  parts.sources = false;
  Result<ProfileView> view = ProfileView::open(command.file, parts);
  if (!view) return fail(view.error());
  const Result<std::string> text = export_text(*view, command.to);
  if (!text) return fail(text.error());
  if (!view->problem().empty()) print_message(view->problem());
  if (const Result<void> written = write_to(command.output, *text); !written) {
    return fail(written.error());
  }
  return 0;
}

}  // namespace culprit
