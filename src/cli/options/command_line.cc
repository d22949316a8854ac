#include "cli/options/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "base/exec_command.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/options/command_options.h"
#include "cli/options/mistakes.h"
#include "cli/options/reserved_words.h"
#include <CLI/CLI.hpp>

namespace culprit {

namespace {

constexpr const char* kVersion = "culprit 0.1.0";
constexpr const char* kFirstLines =
    "Culprit: where the cycles went in native code, and what took them.\n\n"
    "  culprit ./a.out args           record a program, then report: start here\n"
    "  culprit record -g -o run.culprit -- ./a.out args\n"
    "  culprit report --by module --by function\n"
    "  culprit annotate my_function   source and assembly with costs\n"
    "  culprit doctor                 what works on this machine, and what does not\n"
    "  culprit help COMMAND           its options\n";

/// What stands behind the options of an action of `culprit scan`.
std::string scan_operands(const std::string& action) {
  if (action == "one") return " -- PROGRAM [ARGS, with {runs} in one]";
  if (action == "init") return " SOURCE";
  if (action == "explain") return " CELL [CELL]";
  if (action == "find") return " TEXT";
  if (action == "diff") return " A B";
  for (const char* of_expressions : {"table", "plot", "best", "trend"}) {
    if (action == of_expressions) return " [EXPR]";
  }
  return action == "forget" || action == "verify" ? "" : " [PLAN]";
}

/// CLI11's help within 80 columns, with usage lines that can be typed and without its notes on
/// checks.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    const std::string name = app->get_name();
    if (name == "culprit")
      return "Usage: culprit COMMAND [OPTIONS]   or   culprit [--] PROGRAM [ARGS]\n";
    std::string usage = "Usage: culprit " + name + " [OPTIONS]";
    if (app->get_parent() != nullptr && app->get_parent()->get_name() == "scan") {
      return "Usage: culprit scan " + name + " [OPTIONS]" + scan_operands(name) + "\n";
    }
    if (name == "scan") return "Usage: culprit scan ACTION [OPTIONS]\n";
    if (name == "record" || name == "stat") usage += " [--] PROGRAM [ARGS]";
    if (name == "annotate") usage += " FUNCTION";
    if (name == "data") usage += " [OBJECT]";
    if (name == "locality") usage += " [FUNCTION | FILE:LINE]";
    if (name == "daemon") usage += " [REQUEST]";
    if (name == "events") usage += " [PATTERN]";
    if (name == "templates") usage += " [list | show NAME | lint [FILE...]]";
    if (const CLI::Option* file = app->get_option_no_throw("FILE")) {
      usage += file->get_required() ? " FILE" : " [FILE]";
    }
    return usage + "\n";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = "  " + make_option_name(option, is_positional);
    if (!is_positional) name += make_option_opts(option);
    return in_columns(name, make_option_desc(option));
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    const bool comes_first = is_positional || group == "Options";
    std::string text = (comes_first ? "\n" : "") + group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, is_positional);
    return text;
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return in_columns("  " + command->get_name(), command->get_description());
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name =
        option->get_name(is_positional, !is_positional);  // "-p,--pid", "--no-x{false}"
    name.erase(std::min(name.find('{'), name.size()));
    if (const size_t comma = name.find(','); comma != std::string::npos) {
      name.insert(comma + 1, " ");
    }
    return name;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const std::string type = option->get_type_name();  // "NS:UINT in [1 - 9]"
    return " " + type.substr(0, type.find(':'));
  }

  std::string make_description(const CLI::App* app) const override {
    if (app->get_parent() == nullptr) return app->get_description();  // lines of its own
    return wrap(app->get_description(), kWidth, 0) + "\n";
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string footer = app->get_footer();  // "\nExamples:..."
    std::string text;
    for (const std::string_view line : split(footer, '\n')) text += fit(line) + "\n";
    return footer.empty() ? "" : text.substr(text.front() == '\n');
  }

 private:
  static constexpr size_t kWidth = 80;

  /// What is said of an example that is too long stands below it; a command is never broken.
  static std::string fit(std::string_view line) {
    if (line.size() <= kWidth) return std::string(line);
    if (!line.starts_with("  ")) return wrap(std::string(line), kWidth, 0);
    const size_t gap = line.rfind("  ");
    if (gap == 0) return std::string(line);
    const std::string below = std::string(6, ' ') + std::string(line.substr(gap + 2));
    const std::string_view command = line.substr(0, line.find_last_not_of(' ', gap) + 1);
    return command.empty() ? below : std::string(command) + "\n" + below;
  }

  /// "  -p, --pid PID        running processes": what is said of it begins in one column.
  static std::string in_columns(std::string name, const std::string& words) {
    constexpr size_t kColumn = 27;
    const size_t length = name.size();
    name += length + 2 > kColumn ? "\n" + std::string(kColumn, ' ')
                                 : std::string(kColumn - length, ' ');
    return name + wrap(std::string(kColumn, ' ') + words, kWidth, kColumn).substr(kColumn) + "\n";
  }
};

/// CLI11 takes "-5" for a huge number, and one that is too large for the largest.
void check_whole_numbers(CLI::App& root) {
  const CLI::Validator is_whole(
      [](std::string& text) {
        return find_number(text, 10) ? "" : fmt::format("'{}' is not a whole number", text);
      },
      "");
  for (CLI::App* const app : root.get_subcommands({})) {
    for (CLI::Option* const option : app->get_options()) {
      if (option->get_type_name() == "N") option->check(is_whole);
    }
  }
}

// ---- `culprit PROGRAM args`. ----

std::vector<std::string> command_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* app : root.get_subcommands({})) names.push_back(app->get_name());
  return names;
}

Usage wrong_usage(const std::string& message, const std::string& help_command) {
  return {2, fmt::format("culprit: {}\n         see: {}\n", printable(message), help_command)};
}

/// `culprit help [COMMAND]`.
Usage make_help(const CLI::App& root, const std::vector<std::string>& arguments) {
  if (arguments.size() == 1) return {0, root.help()};
  const std::string& name = arguments[1];
  for (const CLI::App* const app : root.get_subcommands({}))
    if (app->get_name() == name && arguments.size() == 2) return {0, app->help()};
  if (arguments.size() > 2) return wrong_usage("help takes one command", "culprit help");
  const std::string nearest = nearest_word(name, command_names(root));
  return wrong_usage(fmt::format("there is no command '{}'{}", name,
                                 nearest.empty() ? "" : " (did you mean " + nearest + "?)"),
                     "culprit help");
}

Usage refuse_reserved_word(const std::vector<std::string>& arguments, std::string_view instead) {
  std::string program;
  for (const std::string& word : arguments) program += " " + word;
  return {2,
          fmt::format("culprit: '{}' is no command of this version{}\n"
                      "         to profile a program of that name: culprit --{}\n",
                      arguments.front(), instead.empty() ? "" : fmt::format(" (try: {})", instead),
                      printable(program))};
}

/// The command or action that was given.
const CLI::App& find_innermost(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

/// CLI11 names them from the last to the first.
std::string describe_extras(const CLI::App& root) {
  const std::vector<std::string> extras = find_innermost(root).remaining();
  std::string text;
  for (const std::string& word : extras) text += (text.empty() ? "" : " ") + word;
  return fmt::format("{} not expected: {}", extras.size() == 1 ? "this argument was" : "these were",
                     text);
}

/// `culprit PROGRAM args`.
RecordCommand record_and_report(std::vector<std::string> command) {
  RecordCommand record;
  record.record.command = std::move(command);
  record.report_after = true;
  return record;
}

/// A command that is offered, and what its options say once they are parsed.
struct Offer {
  CLI::App* app;
  std::function<Command()> take;
};

template <class T>
Offer offer(CLI::App& root, CLI::App* (*add)(CLI::App&, T*, std::string*), std::string* error) {
  auto command = std::make_shared<T>();
  return {add(root, command.get(), error), [command] { return Command(*command); }};
}

/// Commands stand in the order in which help lists them.
std::vector<Offer> offer_all(CLI::App& root, std::string* error) {
  return {
#define COMMAND(type, add) offer(root, add, error),
#include "cli/options/commands.def"
#undef COMMAND
  };
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
  std::string error;  // of options that are wrong together

  CLI::App root(kFirstLines, "culprit");
  root.formatter(std::make_shared<HelpFormatter>());
  root.require_subcommand(0, 1);
  root.set_help_flag("-h,--help", "this help");
  root.set_version_flag("--version", kVersion, "the version");
  const std::vector<Offer> offers = offer_all(root, &error);
  check_whole_numbers(root);

  if (arguments.empty()) return Usage{2, root.help()};
  const std::string& first = arguments.front();
  const std::vector<std::string> names = command_names(root);
  if (first == "--" && arguments.size() > 1)
    return record_and_report({arguments.begin() + 1, arguments.end()});
  if (first == "help") return make_help(root, arguments);
  if (first == "version" && arguments.size() == 1) return Usage{0, std::string(kVersion) + "\n"};
  if (std::find(names.begin(), names.end(), first) == names.end() && first[0] != '-') {
    if (const auto instead = find_reserved_word(first))
      return refuse_reserved_word(arguments, *instead);
    if (find_program(first).empty()) {
      const std::string nearest = nearest_word(first, names);
      return wrong_usage(fmt::format("'{}' is neither a command nor a program{}", first,
                                     nearest.empty() ? "" : " (did you mean " + nearest + "?)"),
                         "culprit --help");
    }
    return record_and_report(arguments);
  }

  // CLI11 throws; this is the one place where that ends.
  std::string used = "culprit";
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    if (first == "record" || first == "stat" || first == "top" || first == "scan") {
      std::replace(reversed.begin(), reversed.end(), std::string("--"), std::string(kDashes));
    }
    root.parse(reversed);
  } catch (const CLI::Success& success) {
    const auto chosen = root.get_subcommands();
    if (dynamic_cast<const CLI::CallForVersion*>(&success) != nullptr) {
      return Usage{0, std::string(kVersion) + "\n"};
    }
    return Usage{0, chosen.empty() ? root.help() : chosen.front()->help()};
  } catch (const CLI::ExtrasError&) {
    error = describe_extras(root);
  } catch (const CLI::Error& mistake) {
    error = describe_mistake(find_innermost(root), mistake);
  }
  if (!error.empty()) {
    for (const CLI::App* at = &root; !at->get_subcommands().empty();) {
      at = at->get_subcommands().front();
      used += " " + at->get_name();
    }
    return wrong_usage(error, used + " --help");
  }
  for (const Offer& one : offers) {
    if (one.app->parsed()) return one.take();
  }
  return Usage{2, root.help()};
}

}  // namespace culprit
