// culprit: the way from argv to a command and its exit status.

#include <csignal>
#include <string>
#include <variant>
#include <vector>

#include "cli/commands.h"

int main(int argc, char** argv) {
  // A closed pipe (`culprit report | head`) ends us quietly, as it does for other filters.
  std::signal(SIGPIPE, SIG_DFL);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return std::visit([](const auto& command) { return culprit::run(command); },
                    culprit::parse_command_line(arguments));
}
