#include "cli/options/option_words.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "store/writer_lock.h"

namespace culprit {

uint64_t parse_duration_ns(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string_view unit(end);
  const double factor = unit.empty() || unit == "s"    ? 1e9
                        : unit == "ms"                 ? 1e6
                        : unit == "us"                 ? 1e3
                        : unit == "m" || unit == "min" ? 60e9
                                                       : 0;
  // This refuses "nan", "inf" and what does not fit, too.
  if (end == text.c_str() || factor == 0 || !(number >= 0 && number * factor < 1e18)) {
    throw CLI::ValidationError("'" + text + "' is not a duration (try 10s, 500ms or 2min)");
  }
  return static_cast<uint64_t>(number * factor);
}

uint64_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit = to_lower(end);
  if (unit.ends_with('b')) unit.pop_back();
  const double factor = unit.empty()   ? 1
                        : unit == "k"  ? 1e3
                        : unit == "ki" ? 1024.0
                        : unit == "m"  ? 1e6
                        : unit == "mi" ? 1048576.0
                        : unit == "g"  ? 1e9
                        : unit == "gi" ? 1073741824.0
                                       : 0;
  if (end == text.c_str() || factor == 0 || !(number >= 0 && number * factor < 1e18)) {
    throw CLI::ValidationError("'" + text + "' is not a size (try 500k, 10M or 1Gi)");
  }
  return static_cast<uint64_t>(number * factor);
}

std::vector<int> parse_cpus(const std::string& text) {
  std::vector<int> cpus;
  for (const std::string_view field : split(text, ',')) {
    int first = 0;
    int last = 0;
    char rest = 0;
    const std::string word(field);
    const int got = std::sscanf(word.c_str(), "%d-%d%c", &first, &last, &rest);
    if (got == 1 && word.find('-') == std::string::npos) last = first;
    const bool valid = (got == 1 && last == first && word == std::to_string(first)) || got == 2;
    if (!valid || first < 0 || last < first || last > 8191) {
      throw CLI::ValidationError("'" + text + "' is not a list of CPUs (try 0,2-3)");
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<pid_t> parse_pids(const std::string& text) {
  std::vector<pid_t> pids;
  for (const std::string_view field : split(text, ',')) {
    const std::string word(field);
    char* end = nullptr;
    const long pid = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || pid <= 0 || pid > 0x7fffffff) {
      throw CLI::ValidationError("'" + text + "' is not a list of process ids");
    }
    pids.push_back(static_cast<pid_t>(pid));
  }
  return pids;
}

bool names_profile(const std::string& word) {
  const Result<Fd> file = open_readable(word);
  return file && looks_like_profile(file->get());
}

std::string check_range(const std::string& text, double least, double most,
                        const std::string& range, bool is_whole) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || std::isnan(number)) {
    return fmt::format("'{}' is not a number; it takes {}", text, range);
  }
  if (is_whole && number != std::floor(number)) {
    return fmt::format("{} is not a whole number; it takes {}", text, range);
  }
  if (number < least) return fmt::format("{} is too small; it takes {}", text, range);
  if (number > most) return fmt::format("{} is too large; it takes {}", text, range);
  return "";
}

void add_force(CLI::App* app, bool* force) {
  app->add_flag("--force", *force, "replace the output also if it is a file of another kind");
}

void add_off_flag(CLI::App* app, const std::string& name, bool* target, const std::string& help) {
  app->add_flag_callback(name, [target] { *target = false; }, help);
}

}  // namespace culprit
