// `culprit serve`: the web page of one or several profiles, until Ctrl-C.

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <spawn.h>
#include <thread>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
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

}  // namespace

int run(const ServeCommand& command) {
  const InterruptGuard guard;
  ServerOptions options;
  options.files = command.files;
  if (options.files.empty()) options.files.emplace_back(kDefaultProfile);
  options.address = command.listen;
  options.port = command.port;
  const Result<std::unique_ptr<Server>> server = Server::start(options);
  if (!server) return fail(server.error());
  const std::string url = (*server)->url();
  if (const Result<void> written = write_output(url + "\n"); !written) return fail(written.error());
  print_message(command.listen == kLoopback
                    ? "serving to this machine alone; Ctrl-C ends it"
                    : fmt::format("serving at {}: whoever has the address above sees names, source "
                                  "and machine code; Ctrl-C ends it",
                                  command.listen));
  if (command.open_browser) open_browser(url);
  while (!guard.is_interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return 0;
}

}  // namespace culprit
