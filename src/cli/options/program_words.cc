#include "cli/options/program_words.h"

#include <algorithm>
#include <cstdlib>

#include "cli/options/command_options.h"
#include "cli/options/option_words.h"

namespace culprit {

void add_targets(CLI::App* app, std::vector<pid_t>* pids, bool* system_wide, std::string* cgroup,
                 std::vector<int>* cpus) {
  const OptionGroup group(app, "What to observe, if not a program");
  add_parsed(app, "-p,--pid", pids, parse_pids, "running processes, and their children",
             "PID[,PID]");
  app->add_flag("-a,--all-cpus", *system_wide, "everything on this machine");
  app->add_option("-G,--cgroup", *cgroup, "a cgroup, by its path below the cgroup mount")
      ->type_name("PATH");
  add_parsed(app, "-C,--cpu", cpus, parse_cpus, "only on these CPUs", "LIST");
}

namespace {

/// CLI11 takes an option that it does not know for the program's first word.
void refuse_unknown_option(const CLI::App& app, const std::string& word) {
  if (word.size() < 2 || word.front() != '-') return;
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  }
  const std::string nearest = nearest_word(name, known);
  throw CLI::ValidationError(fmt::format("there is no option '{}'{}", name,
                                         nearest.empty() ? "; a program of that name goes behind --"
                                                         : " (did you mean " + nearest + "?)"));
}

}  // namespace

std::vector<std::string> take_program(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front() != kDashes) refuse_unknown_option(app, words.front());
  if (!words.empty() && words.front() == kDashes) words.erase(words.begin());
  std::replace(words.begin(), words.end(), std::string(kDashes), std::string("--"));
  return words;
}

std::optional<double> parse_frequency_hz(const std::string& text) {
  constexpr double kHighestFrequency = 100'000;  // cpu-clock refuses periods below 10 us
  char* end = nullptr;
  const double hertz = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(hertz >= 0.1 && hertz <= kHighestFrequency)) {
    throw CLI::ValidationError("'" + text + "' is not a frequency from 0.1 to 100000 Hz");
  }
  return hertz;
}

}  // namespace culprit
