#pragma once

// What commands that watch something share: which program, processes or CPUs, and how often.

#include <fmt/format.h>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <CLI/CLI.hpp>

namespace culprit {

/// -p, -a, -G, -C.
void add_targets(CLI::App* app, std::vector<pid_t>* pids, bool* system_wide, std::string* cgroup,
                 std::vector<int>* cpus);

/// The words behind the options: the program to run, "--" before it taken away.
std::vector<std::string> take_program(const CLI::App& app);

/// "999", "0.5" → samples a second.
std::optional<double> parse_frequency_hz(const std::string& text);

/// "" if what to observe is clear: a program, processes, a cgroup or all.
template <class Options>
std::string check_targets(const Options& options, const char* verb) {
  const int targets = (options.pids.empty() ? 0 : 1) + (options.cgroup.empty() ? 0 : 1) +
                      (options.system_wide ? 1 : 0);
  if (targets == 0 && options.command.empty()) {
    return fmt::format("nothing to {}: give a program, -p PID, --cgroup PATH or -a", verb);
  }
  if (targets > 1) {
    return fmt::format("-p, --cgroup and -a: only one of them to {} at a time", verb);
  }
  if (!options.pids.empty() && !options.command.empty()) {
    return "give either a program or -p, not both";
  }
  return "";
}

}  // namespace culprit
