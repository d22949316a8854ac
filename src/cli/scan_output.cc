#include "cli/scan_output.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/names.h"
#include "base/program_files.h"
#include "base/text.h"
#include "base/wait_status.h"
#include "cli/run_program.h"
#include "cli/terminal.h"
#include "recording/started_command.h"

namespace culprit {
namespace {

/// Makes a PDF of a picture, by the program that librsvg comes with.
/// Errors: it is not here; it fails
Result<void> write_pdf(const std::string& path, std::string_view svg) {
  constexpr const char* kConverter = "rsvg-convert";
  if (const auto unrunnable = check_program(kConverter)) {
    return Error{
        fmt::format("a PDF takes {} (Debian's package librsvg2-bin): {}; -o FILE.svg does "
                    "without",
                    kConverter, unrunnable->error.message)};
  }
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string picture = folder.path() + "/plot.svg";
  RETURN_IF_ERROR(write_whole_file(picture, svg, false));
  ASSIGN_OR_RETURN(StartedCommand converter,
                   StartedCommand::start({kConverter, "-f", "pdf", "-o", path, picture}));
  while (!converter.wait(10'000)) continue;
  if (converter.wait_status() == 0) return {};
  return Error{fmt::format("{} made no '{}': {}", kConverter, printable(path),
                           describe_wait_status(converter.wait_status()))};
}

}  // namespace

Result<void> write_whole_file(const std::string& path, std::string_view text, bool may_replace) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (may_replace ? O_TRUNC : O_EXCL);
  const Fd file(::open(path.c_str(), flags, 0666));
  if (!file && errno == EEXIST) {
    return Error{fmt::format("'{}' is there already: remove it, or choose another (-o FILE)",
                             printable(path))};
  }
  if (!file) return errno_error("cannot write '" + path + "'", errno);
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written <= 0) return errno_error("cannot write '" + path + "'", errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

int print_scan_answer(const ScanCommand& command, const Result<std::string>& text) {
  if (!text) return fail(text.error());
  if (command.form == PlotForm::pdf) {
    const Result<void> written = write_pdf(command.output, *text);
    return written ? 0 : fail(written.error());
  }
  const bool to_file = !command.output.empty() && command.output != "-";
  const Result<void> written =
      to_file ? write_whole_file(command.output, *text, true) : write_output(*text);
  return written ? 0 : fail(written.error());
}

std::string with_plan(std::string words, const ScanCommand& command) {
  if (command.plan != ScanCommand().plan) words += " " + shell_word(command.plan);
  if (!command.file.empty()) words += " -o " + shell_word(command.file);
  return printable(words);
}

std::string with_input(std::string words, const ScanCommand& command) {
  if (command.scan_file() != ScanCommand().scan_file()) {
    words += " -i " + shell_word(command.scan_file());
  }
  return printable(words);
}

}  // namespace culprit
