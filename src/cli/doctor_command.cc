// `culprit doctor`: what works on this machine, what does not, why, and what
// would help.
//
//   hardware counters   no    this is a virtual machine without a PMU
//                             -> culprit record --engine timer samples time

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/choose_template.h"
#include "cli/commands.h"
#include "cli/program_files.h"
#include "cli/terminal.h"
#include "host/capabilities.h"

namespace culprit {

namespace {

constexpr size_t kNameColumns = 20;
constexpr size_t kAnswerColumns = 6;

const char* answer(Availability available) {
  switch (available) {
    case Availability::yes:
      return "yes";
    case Availability::part:
      return "part";
    case Availability::no:
      return "no";
  }
  return "?";
}

const char* colour_of(Availability available) {
  switch (available) {
    case Availability::yes:
      return "\033[32m";
    case Availability::part:
      return "\033[33m";
    case Availability::no:
      return "\033[31m";
  }
  return "";
}

/// Breaks `text` at spaces so that each line fits; the first line starts at `indent` too.
std::string wrap(const std::string& text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  for (const std::string_view word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string print_text(const std::vector<Capability>& rows, const TextStyle& style) {
  const size_t indent = kNameColumns + kAnswerColumns;
  std::string text;
  for (const Capability& row : rows) {
    const char* colour = style.colour ? colour_of(row.available) : "";
    text += fmt::format("{:<{}}{}{:<{}}{}{}\n", row.name, kNameColumns, colour,
                        answer(row.available), kAnswerColumns, style.colour ? "\033[0m" : "",
                        wrap(printable(row.detail), indent, style.width));
    if (!row.remedy.empty()) {
      text += fmt::format("{:{}}-> {}\n", "", indent,
                          wrap(printable(row.remedy), indent + 3, style.width));
    }
  }
  return text;
}

std::string print_json(const std::vector<Capability>& rows) {
  nlohmann::ordered_json json{{"schema", "culprit-doctor-1"}};
  json["capabilities"] = nlohmann::ordered_json::array();
  for (const Capability& row : rows) {
    json["capabilities"].push_back({{"name", row.name},
                                    {"available", answer(row.available)},
                                    {"detail", printable(row.detail)},
                                    {"remedy", printable(row.remedy)}});
  }
  return json.dump(1) + "\n";
}

std::string print_csv(const std::vector<Capability>& rows) {
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : printable(text)) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  std::string text = "name,available,detail,remedy\n";
  for (const Capability& row : rows) {
    text += fmt::format("{},{},{},{}\n", quoted(row.name), answer(row.available),
                        quoted(row.detail), quoted(row.remedy));
  }
  return text;
}

}  // namespace

int run_doctor(const DoctorCommand& command) {
  std::vector<Capability> rows = probe_capabilities(find_shim(), find_qemu_plugin());
  rows.push_back(describe_accounting(rows.front().available == Availability::yes));
  const std::string text = command.format == Format::json ? print_json(rows)
                           : command.format == Format::csv
                               ? print_csv(rows)
                               : print_text(rows, standard_output_style(0));
  if (const Result<void> written = write_output(text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
