#include "cli/terminal.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/exec_command.h"
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

namespace {

/// "" if there is none.
std::string find_pager() {
  for (const char* variable : {"CULPRIT_PAGER", "PAGER"}) {
    const char* const wanted = std::getenv(variable);
    if (wanted != nullptr) return std::string_view(wanted) == "cat" ? "" : wanted;
  }
  return find_program("less").empty() ? "" : "less";
}

bool is_longer_than_terminal(std::string_view text) {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return false;
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  return size.ws_row > 0 && lines >= size.ws_row;
}

}  // namespace

Result<void> write_paged(std::string_view text) {
  const std::string pager = is_longer_than_terminal(text) ? find_pager() : "";
  if (pager.empty()) return write_output(text);
  std::fflush(stdout);
  ::setenv("LESS", "FRX", 0);  // colours; no pager for what fits; the text stays
  // Who leaves the pager early has seen enough: that is no end by SIGPIPE.
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  std::FILE* const pipe = ::popen(pager.c_str(), "w");
  if (pipe != nullptr) std::fwrite(text.data(), 1, text.size(), pipe);
  constexpr int kNotFound = 127 << 8;  // what the shell says
  const bool has_shown = pipe != nullptr && ::pclose(pipe) != kNotFound;
  std::signal(SIGPIPE, old_handler);
  return has_shown ? Result<void>() : write_output(text);
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
