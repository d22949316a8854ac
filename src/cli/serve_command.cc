// `culprit serve`: the web page of one or several profiles, until Ctrl-C.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <thread>
#include <unistd.h>

#include "base/heap.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete_profile.h"
#include "cli/interrupt.h"
#include "cli/offer_page.h"
#include "cli/terminal.h"
#include "documents/assets.h"
#include "print/header_text.h"
#include "server/server.h"

extern char** environ;

namespace culprit {

namespace {

/// Where somebody sits at a desktop; the address is printed anyway.
void open_browser(const std::string& url) {
  const bool has_desktop =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (!has_desktop) return;
  std::string program = "xdg-open";
  std::string address = url;
  char* const words[] = {program.data(), address.data(), nullptr};
  pid_t child = 0;
  static_cast<void>(::posix_spawnp(&child, program.c_str(), nullptr, nullptr, words, environ));
}

/// The files that were named, and of folders the profiles in them, by name.
Result<std::vector<std::string>> list_profiles(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code error;
    if (!std::filesystem::is_directory(word, error)) {
      files.push_back(word);
      continue;
    }
    std::vector<std::string> inside;
    for (std::filesystem::directory_iterator at(word, error), end; !error && at != end;
         at.increment(error)) {
      if (at->path().extension() == ".culprit") inside.push_back(at->path().string());
    }
    if (error) return Error{"cannot read " + in_quotes(word) + ": " + error.message()};
    if (inside.empty()) return Error{in_quotes(word) + " holds no profile (*.culprit)"};
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

/// Somebody who reads a page for a while needs no memory of ours for it.
void serve_until_interrupted(const Server& server, const InterruptGuard& guard) {
  constexpr std::chrono::milliseconds kStep{50};
  constexpr std::chrono::seconds kQuiet{5};
  uint64_t answered = 0;
  auto quiet = std::chrono::milliseconds::zero();
  while (!guard.is_interrupted()) {
    std::this_thread::sleep_for(kStep);
    const uint64_t now = server.answered();
    quiet = now == answered ? quiet + kStep : std::chrono::milliseconds::zero();
    answered = now;
    if (quiet == kQuiet) give_back_freed_memory();
  }
}

}  // namespace

Result<void> offer_page(const std::string& file) {
  if (!web_assets().problem.empty()) return {};
  const TextStyle style = standard_output_style(0, file);
  constexpr std::string_view kLabel = "Next";  // the report's own has it
  std::string next = print_next(with_file("culprit serve", style), "in a browser", style);
  return write_output(next.replace(0, kLabel.size(), kLabel.size(), ' '));
}

int run(const ServeCommand& command) {
  share_heap_among_threads();
  const InterruptGuard guard;
  ServerOptions options;
  Result<std::vector<std::string>> files = list_profiles(command.files);
  if (!files) return fail(files.error());
  options.files = *std::move(files);
  if (options.files.empty()) options.files.emplace_back(kDefaultProfile);
  options.address = command.listen;
  options.port = command.port;
  ProgressLine line;
  options.progress = show_symbols(line, guard, false);
  const Result<std::unique_ptr<Server>> server = Server::start(options);
  line.clear();
  if (!server) return fail(server.error());
  const std::string url = (*server)->url();
  if (const Result<void> written = write_output(url + "\n"); !written) return fail(written.error());
  print_message(command.listen == kLoopback
                    ? "serving to this machine alone; Ctrl-C ends it"
                    : fmt::format("serving at {}: whoever has the address above sees names, source "
                                  "and machine code; Ctrl-C ends it",
                                  command.listen));
  if (command.open_browser) open_browser(url);
  serve_until_interrupted(**server, guard);
  std::quick_exit(0);  // a document that is still being made would be waited for
}

}  // namespace culprit
