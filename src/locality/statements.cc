#include "locality/statements.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"

namespace culprit {
namespace {

Levels levels_of(LocalityBy by) {
  switch (by) {
    case LocalityBy::module:
      return Levels::of({RowLevel::module});
    case LocalityBy::function:
      return Levels::of({RowLevel::module, RowLevel::function});
    case LocalityBy::statement:
    case LocalityBy::line:
    case LocalityBy::column:
      return Levels::of({RowLevel::module, RowLevel::function, RowLevel::line});
    case LocalityBy::instruction:
      return Levels::of(
          {RowLevel::module, RowLevel::function, RowLevel::line, RowLevel::instruction});
  }
  return {};
}

/// What rows are told apart by. Lines of a header are one row, whatever they are inlined into.
std::string key_of(const CodeSpot& spot, LocalityBy by) {
  const char separator = '\0';
  std::string key = spot.module;
  if (spot.address) return fmt::format("{}{}{:x}", key, separator, *spot.address);
  const bool has_line = by >= LocalityBy::statement && spot.line != 0;
  if (has_line) {
    return fmt::format("{}{}{}:{}:{}", key, separator, spot.file, spot.line,
                       by == LocalityBy::column ? spot.column : 0);
  }
  return key + separator + separator + spot.function;
}

bool is_called_or_matches(const std::string& name, const std::string& wanted) {
  return is_called(name, wanted) || matches_pattern(name, wanted);
}

}  // namespace

const char* by_word(LocalityBy by) {
  static constexpr const char* kWords[] = {"module", "function", "statement",
                                           "line",   "column",   "instruction"};
  return kWords[static_cast<size_t>(by)];
}

std::string CodeSpot::label() const {
  std::string place = line == 0 ? "" : fmt::format("{}:{}", printable(base_name(file)), line);
  if (last_line > line) place += fmt::format("-{}", last_line);
  if (address) {
    return fmt::format("{:x} {}", *address,
                       place.empty() ? pretty_name(printable(function)) : place);
  }
  if (column != 0) return fmt::format("{}:{}", place, column);
  if (!place.empty()) return place;
  if (!function.empty()) return pretty_name(printable(function));
  return printable(base_name(module));
}

Statements::Statements(CodeIndex& code, LocalityBy by)
    : code_(code), by_(by), keys_(code, levels_of(by)), spans_(code) {}

uint32_t Statements::row_of(const Location& at) {
  const auto [found, is_new] = known_.try_emplace(at, 0);
  if (!is_new) return found->second;
  CodeSpot spot = describe(at);
  const auto [named, is_first] =
      named_.try_emplace(key_of(spot, by_), static_cast<uint32_t>(spots_.size()));
  if (is_first) spots_.push_back(std::move(spot));
  known_[at] = named->second;
  return named->second;
}

CodeSpot Statements::describe(const Location& at) {
  const RowKey key = keys_.of_location({}, at);
  const RowNames names = keys_.name(key);
  CodeSpot spot;
  if (names.module) spot.module = *names.module;
  if (by_ != LocalityBy::module && names.function) spot.function = *names.function;
  if (by_ >= LocalityBy::statement && names.line) {
    spot.line = spot.last_line = *names.line;
    if (names.file) spot.file = *names.file;
    if (by_ == LocalityBy::statement && names.file) {
      const LineSpan span = spans_.find(at.image, StringId(key.file), spot.line);
      spot.line = span.first;
      spot.last_line = span.last;
    }
  }
  if (by_ == LocalityBy::instruction) spot.address = names.address;
  if (by_ == LocalityBy::column && spot.line != 0) {
    const CodePlace place = code_.find(at);
    const ImageFacts* const facts = code_.facts(at.image);
    if (facts != nullptr && place.line != CodePlace::kNone) {
      spot.column = facts->lines[place.line].column;
    }
  }
  return spot;
}

CodePart::CodePart(CodeIndex& code, std::string words, LocalityBy by)
    : code_(code),
      words_(std::move(words)),
      lines_(parse_file_lines(words_)),
      tells_lines_(by == LocalityBy::line),
      spans_(code) {}

std::string CodePart::name() const {
  const bool is_wider =
      lines_ && met_.first != 0 && (met_.first < lines_->first || met_.last > lines_->last);
  if (!is_wider) return words_;
  return fmt::format("{}:{}-{}", lines_->file, std::min(met_.first, lines_->first),
                     std::max(met_.last, lines_->last));
}

bool CodePart::holds(const Location& at) {
  const auto [found, is_new] = known_.try_emplace(at, false);
  if (is_new) found->second = find(at);
  return known_[at];
}

bool CodePart::find(const Location& at) {
  const ImageFacts* const facts = code_.facts(at.image);
  if (facts == nullptr) return false;
  if (!is_line()) {
    for (const Frame& frame : code_.frames(at)) {
      const std::string& name = facts->strings.text(frame.function);
      if (names_.empty() || names_.back() != name) names_.push_back(name);
      if (is_called_or_matches(name, words_)) return true;
    }
    return false;
  }
  const CodePlace place = code_.find(at);
  if (place.line == CodePlace::kNone) return false;
  const LineFact& line = facts->lines[place.line];
  const std::string& file = facts->strings.text(line.file);
  const std::string& wanted = lines_->file;
  const bool is_file = file == wanted || base_name(file) == wanted || file.ends_with("/" + wanted);
  if (is_file) names_.push_back(fmt::format("{}:{}", wanted, line.line));
  if (!is_file) return false;
  if (tells_lines_) return lines_->hold(line.line);
  const LineSpan span = spans_.find(at.image, line.file, line.line);
  if (span.last < lines_->first || span.first > lines_->last) return false;
  met_ = met_.first == 0
             ? span
             : LineSpan{std::min(met_.first, span.first), std::max(met_.last, span.last)};
  return true;
}

Error CodePart::not_found() const {
  std::vector<std::string> names = names_;
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<std::string> short_names;
  for (const std::string& name : names) short_names.emplace_back(without_parameters(name));
  if (is_line() && names.empty()) {
    return Error{
        fmt::format("no code that ran is of a file '{}': does it have debug information (-g)?",
                    printable(lines_->file))};
  }
  const std::string nearest = nearest_word(words_, short_names);
  return Error{
      fmt::format("no code that accessed memory is '{}'{} (culprit locality lists the statements)",
                  printable(words_),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", printable(nearest))),
      ErrorKind::not_found};
}

}  // namespace culprit
