#pragma once

// Options whose words become values: what CLI11 lacks. The parsers throw
// CLI::ValidationError, which CLI11 expects; parse_command_line() is where that ends.

#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <string>
#include <sys/types.h>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/text_style.h"
#include <CLI/CLI.hpp>

namespace culprit {

/// "10", "10s", "1.5s", "250ms", "100us" → ns. No unit: seconds.
uint64_t parse_duration_ns(const std::string& text);
/// "60k", "10M", "1.5G", with or without a B behind → bytes; k is 1000, Ki 1024.
uint64_t parse_bytes(const std::string& text);
/// "0,2-3" → {0, 2, 3}.
std::vector<int> parse_cpus(const std::string& text);
/// "12,34" → {12, 34}.
std::vector<pid_t> parse_pids(const std::string& text);

/// Whether there is a profile of this path.
bool names_profile(const std::string& word);

template <class T>
struct Word {
  const char* word;
  T value;
};

inline constexpr Word<Format> kFormats[] = {
    {"text", Format::text}, {"json", Format::json}, {"csv", Format::csv}};

template <class T>
T parse_word(std::span<const Word<T>> words, const std::string& text) {
  std::vector<std::string> known;
  for (const Word<T>& word : words) {
    if (text == word.word) return word.value;
    known.emplace_back(word.word);
  }
  const std::string nearest = nearest_word(text, known);
  throw CLI::ValidationError(
      fmt::format("'{}' is not one of {}{}", text, fmt::join(known, ", "),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
}

template <class T, size_t N>
T parse_word(const Word<T> (&words)[N], const std::string& text) {
  return parse_word(std::span<const Word<T>>(words), text);
}

/// Adds an option whose text `take` takes, or all texts of one that may be repeated (Text is a
/// vector of strings then). What is wrong with it is told by the option's name.
template <class Text = std::string, class Take>
CLI::Option* add_taken(CLI::App* app, const std::string& names, Take take, const std::string& help,
                       const std::string& value_name) {
  const auto take_by_name = [take, names](const Text& text) {
    try {
      take(text);
    } catch (const CLI::ValidationError& mistake) {
      throw CLI::ValidationError(names.substr(names.rfind(',') + 1), mistake.what());
    }
  };
  return app->add_option_function<Text>(names, take_by_name, help)->type_name(value_name);
}

/// The same of an option that may be repeated: `take` takes one text after the other.
template <class Take>
CLI::Option* add_each_taken(CLI::App* app, const std::string& names, Take take,
                            const std::string& help, const std::string& value_name) {
  const auto take_all = [take](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) take(text);
  };
  return add_taken<std::vector<std::string>>(app, names, take_all, help, value_name)
      ->allow_extra_args(false);
}

/// Adds an option whose text goes through `parse` into `*target`.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App* app, const std::string& names, T* target, Parse parse,
                        const std::string& help, const std::string& value_name) {
  return add_taken(
      app, names, [target, parse](const std::string& text) { *target = parse(text); }, help,
      value_name);
}

template <class T, size_t N>
CLI::Option* add_word(CLI::App* app, const std::string& names, T* target, const Word<T> (&words)[N],
                      const std::string& help) {
  std::vector<std::string> known;
  for (const Word<T>& word : words) known.emplace_back(word.word);
  return add_parsed(
      app, names, target, [&words](const std::string& text) { return parse_word(words, text); },
      help, fmt::format("{}", fmt::join(known, "|")));
}

/// The options that are added while it lives stand under a heading of their own in the help.
class OptionGroup {
 public:
  OptionGroup(CLI::App* app, std::string heading)
      : app_(*app), heading_(std::move(heading)), before_(app->get_options().size()) {}
  OptionGroup(const OptionGroup&) = delete;
  OptionGroup& operator=(const OptionGroup&) = delete;
  ~OptionGroup() {
    const std::vector<CLI::Option*> options = app_.get_options();
    for (size_t i = before_; i < options.size(); ++i) options[i]->group(heading_);
  }

 private:
  CLI::App& app_;
  const std::string heading_;
  const size_t before_;
};

/// "" or what is wrong with it: "0 is too small; it takes 1 to 16".
std::string check_range(const std::string& text, double least, double most,
                        const std::string& range, bool is_whole);

/// CLI11's own range says less, and lets through what is no number.
template <class T>
CLI::Validator in_range(T least, T most) {
  const std::string range = fmt::format("{} to {}", least, most);
  return CLI::Validator(
      [=](std::string& text) {
        return check_range(text, static_cast<double>(least), static_cast<double>(most), range,
                           std::is_integral_v<T>);
      },
      "");
}

/// --force, of commands that write files (cli/output_file.h).
void add_force(CLI::App* app, bool* force);

/// Sets `*target` to false when the option is given.
void add_off_flag(CLI::App* app, const std::string& name, bool* target, const std::string& help);

}  // namespace culprit
