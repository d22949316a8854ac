#include "cli/terminal.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/options/command_line.h"

namespace culprit {

namespace {

constexpr size_t kPipeWidth = 80;
constexpr size_t kNarrowest = 60;
constexpr size_t kWidest = 1000;

size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kPipeWidth;
}

bool colours_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_colour == nullptr || *no_colour == '\0') && ::isatty(STDOUT_FILENO) == 1 &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

void print_message(std::string_view message) {
  std::string text = "culprit: ";
  bool first = true;
  for (const std::string_view line : split(message, '\n')) {
    if (!first) text += "\n         ";
    text += printable(line);
    first = false;
  }
  fmt::print(stderr, "{}\n", text);
}

int fail(const Error& error, int status) {
  print_message(error.message);
  return status;
}

TextStyle standard_output_style(size_t requested_width, const std::string& file) {
  const size_t width = requested_width != 0 ? requested_width : terminal_width();
  return {std::clamp(width, kNarrowest, kWidest), colours_wanted(),
          file == kDefaultProfile ? "" : file};
}

Result<void> write_output(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return errno_error("cannot write the output", errno);
  }
  return {};
}

ProgressLine::ProgressLine() : enabled_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  fmt::print(stderr, "\r\033[K  {}", text);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace culprit
