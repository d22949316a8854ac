#include "simulate/objects/ranges.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"

namespace culprit::objects {
namespace {

/// "0x12" or "18".
std::optional<uint64_t> parse_number(std::string_view text) {
  if (text.starts_with("0x")) return find_number(text.substr(2), 16);
  return find_number(text, 10);
}

bool is_writable_word(std::string_view text) {
  return text.find_first_of("\t\n") == std::string_view::npos;
}

}  // namespace

bool Range::is_of(std::string_view path, std::string_view variable) const {
  return !symbol.empty() && variable == symbol && is_in(path);
}

bool Range::is_stem_of(std::string_view path, std::string_view variable) const {
  const std::string_view stem = without_number(variable);
  return !symbol.empty() && stem.size() < variable.size() && stem == symbol && is_in(path);
}

bool Range::is_in(std::string_view path) const {
  if (file.empty() || path == file) return true;
  return path.ends_with(file) && path[path.size() - file.size() - 1] == '/';
}

Result<Range> parse_range(std::string_view text) {
  const auto wrong = [&](const char* why) {
    return Error{
        fmt::format("'{}' is no range: {}; write NAME=SYMBOL, NAME=FILE:SYMBOL, "
                    "NAME=FILE:LINE or NAME=ADDRESS+BYTES",
                    printable(text), why)};
  };
  Range range;
  const size_t equals = text.find('=');
  std::string_view what = text;
  if (equals != std::string_view::npos) {
    range.name = text.substr(0, equals);
    what = text.substr(equals + 1);
  }
  if (what.empty() || (equals == 0)) return wrong("a name or a place is missing");
  if (!is_writable_word(text)) return wrong("it has a tab or the end of a line in it");
  const size_t plus = what.find('+');
  const auto address = parse_number(what.substr(0, plus));
  if (address) {
    const auto bytes =
        plus == std::string_view::npos ? std::nullopt : parse_number(what.substr(plus + 1));
    if (!bytes || *bytes == 0) return wrong("how many bytes is missing");
    if (*bytes > UINT64_MAX - *address) return wrong("it goes on behind the last address");
    range.address = *address;
    range.size_bytes = *bytes;
    if (range.name.empty()) range.name = what;
    return range;
  }
  const size_t colon = what.rfind(':');
  const bool is_scope = colon != std::string_view::npos && colon > 0 && what[colon - 1] == ':';
  if (colon != std::string_view::npos && !is_scope) {
    range.file = what.substr(0, colon);
    const std::string_view in_file = what.substr(colon + 1);
    if (range.file.empty() || in_file.empty()) return wrong("a file or a symbol is missing");
    if (in_file.find_first_not_of("0123456789") == std::string_view::npos) {
      const auto line = find_number(in_file, 10);
      if (!line || *line == 0 || *line > UINT32_MAX) return wrong("no file has such a line");
      range.line = static_cast<uint32_t>(*line);
      if (range.name.empty()) range.name = what;
      return range;
    }
    what = in_file;
  }
  range.symbol = what;
  if (range.name.empty()) range.name = what;
  return range;
}

Result<std::vector<Range>> parse_ranges(std::string_view text) {
  std::vector<Range> ranges;
  for (const std::string_view one : split(text, ';')) {
    if (one.empty()) continue;
    ASSIGN_OR_RETURN(Range range, parse_range(one));
    ranges.push_back(std::move(range));
  }
  return ranges;
}

std::string ranges_file_path(const std::string& folder) {
  return folder + "/ranges";
}

Result<void> write_ranges_file(const std::string& path, const std::vector<Range>& ranges) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
  bool is_written = file != nullptr;
  for (const Range& range : ranges) {
    std::string line =
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}", range.name, range.file, range.symbol,
                    range.address, range.size_bytes, range.line, range.program);
    for (const auto& [begin, end] : range.code) line += fmt::format("\t{}\t{}", begin, end);
    line += '\n';
    is_written = is_written && std::fputs(line.c_str(), file.get()) >= 0;
  }
  if (!is_written || std::fflush(file.get()) != 0) return Error{"cannot write '" + path + "'"};
  return {};
}

Result<std::vector<Range>> read_ranges_file(const std::string& path) {
  if (!file_exists(path)) return std::vector<Range>();
  ASSIGN_OR_RETURN(const std::string text, read_file(path, 1 << 20));
  std::vector<Range> ranges;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string_view> words;
    for (const std::string_view word : split(line, '\t')) words.push_back(word);
    constexpr size_t kCode = 7;  // where the pairs begin
    const Error damaged{"'" + path + "' is damaged"};
    if (words.size() < kCode || words.size() % 2 != kCode % 2) return damaged;
    std::vector<uint64_t> numbers;  // of words 3, 4, 5 and the pairs
    for (size_t i = 3; i < words.size(); ++i) {
      if (i == kCode - 1) continue;
      const auto number = find_number(words[i], 10);
      if (!number) return damaged;
      numbers.push_back(*number);
    }
    Range range{.name = std::string(words[0]),
                .file = std::string(words[1]),
                .symbol = std::string(words[2]),
                .address = numbers[0],
                .size_bytes = numbers[1],
                .line = static_cast<uint32_t>(numbers[2]),
                .program = std::string(words[6])};
    for (size_t i = 3; i < numbers.size(); i += 2) {
      range.code.emplace_back(numbers[i], numbers[i + 1]);
    }
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace culprit::objects
