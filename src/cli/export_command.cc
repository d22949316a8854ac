// `culprit export`: ask an opened profile for another tool's format, write it.

#include <cerrno>
#include <cstdio>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "session/answers.h"

namespace culprit {

namespace {

bool to_standard_output(const ExportCommand& command) {
  return command.output.empty() || command.output == "-";
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

}  // namespace

int run(const ExportCommand& command) {
  if (command.question.to == ExportFormat::pprof && to_standard_output(command) &&
      ::isatty(1) == 1) {
    return fail(Error{"a pprof profile is gzip'd bytes, nothing for a terminal\n"
                      "give -o FILE, like -o profile.pb.gz"},
                2);
  }
  Result<ProfileView> view = ProfileView::open(command.file);
  if (!view) return fail(view.error());
  const Result<std::string> text = answer_export(*view, command.question);
  if (!text) return fail(text.error());
  if (!view->problem().empty()) print_message(view->problem());
  if (const Result<void> written = write_to(command, *text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
