// culprit: the way from argv to a command and its exit status.

#include <csignal>
#include <string>
#include <variant>
#include <vector>

#include "base/heap.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  // A closed pipe (`culprit report | head`) ends us quietly, as it does for other filters.
  std::signal(SIGPIPE, SIG_DFL);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const culprit::Command command = culprit::parse_command_line(arguments);
  // A daemon stays for weeks, and small.
  if (!std::holds_alternative<culprit::DaemonCommand>(command)) culprit::put_heap_in_large_pages();
  return std::visit([](const auto& one) { return culprit::run(one); }, command);
}
