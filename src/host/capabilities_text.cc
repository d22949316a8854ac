#include "host/capabilities_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include <nlohmann/json.hpp>

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
std::string break_lines(const std::string& text, size_t indent, size_t width) {
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
                        break_lines(printable(row.detail), indent, style.width));
    if (!row.remedy.empty()) {
      text += fmt::format("{:{}}-> {}\n", "", indent,
                          break_lines(printable(row.remedy), indent + 3, style.width));
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

std::string print_capabilities(const std::vector<Capability>& rows, Format format,
                               const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_text(rows, style);
    case Format::json:
      return print_json(rows);
    case Format::csv:
      break;
  }
  return print_csv(rows);
}

}  // namespace culprit
