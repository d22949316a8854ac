#include "locality/objects.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"

namespace culprit {
namespace {

const char* object_kind_word(ObjectKind kind) {
  static constexpr const char* kWords[] = {"",      "variable", "heap",   "stack",
                                           "range", "field",    "mapping"};
  const auto number = static_cast<size_t>(kind);
  return number < std::size(kWords) ? kWords[number] : "";
}

std::string find_source(const ImageFacts& facts, StringId file, uint32_t line) {
  for (const SourceFact& source : facts.sources) {
    if (source.file != file || line < source.first_line) continue;
    const size_t number = line - source.first_line;
    if (number < source.lines.size()) return source.lines[number];
  }
  return "";
}

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name_part(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// What follows "for (...)", whose own assignments are none of the statement's.
std::string_view without_loop_heads(std::string_view statement) {
  constexpr std::string_view kFor = "for";
  for (statement = trim(statement); statement.starts_with(kFor); statement = trim(statement)) {
    const std::string_view head = trim(statement.substr(kFor.size()));
    if (!head.starts_with('(')) return statement;
    size_t end = 0;
    int depth = 0;
    do {
      depth += head[end] == '(' ? 1 : head[end] == ')' ? -1 : 0;
    } while (++end < head.size() && depth > 0);
    statement = head.substr(end);
  }
  return statement;
}

/// The next "=" that is not part of another operator; npos: none.
size_t find_assignment(std::string_view statement, size_t from) {
  for (size_t i = from; i + 1 < statement.size(); ++i) {
    if (statement[i] != '=') continue;
    const bool is_other =
        statement[i + 1] == '=' ||
        std::string_view("=!<>+-*/%&|^").find(statement[i - 1]) != std::string_view::npos;
    if (!is_other) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string find_assigned(std::string_view statement) {
  statement = without_loop_heads(statement);
  const size_t equals = find_assignment(statement, 1);
  if (equals == std::string_view::npos) return "";
  // Of several it is not known which one is meant.
  if (find_assignment(statement, equals + 1) != std::string_view::npos) return "";
  std::string_view left = trim(statement.substr(0, equals));
  // Backwards over subscripts, members and the name that they are of; types before it are no part.
  size_t begin = left.size();
  int depth = 0;
  while (begin > 0) {
    const char c = left[begin - 1];
    if (c == ']') ++depth;
    const bool is_part = depth > 0 || is_name_part(c) || c == '.' || c == ']' ||
                         (c == '>' && begin > 1 && left[begin - 2] == '-') ||
                         (c == '-' && begin < left.size() && left[begin] == '>');
    if (!is_part) break;
    if (c == '[') --depth;
    --begin;
  }
  left = left.substr(begin);
  constexpr size_t kLongest = 40;
  if (depth != 0 || left.empty() || !is_name_start(left.front()) || left.size() > kLongest)
    return "";
  return std::string(left);
}

bool has_objects(const Profile& profile) {
  const auto names_any = [](ObjectId object) { return !object.is_all(); };
  for (const Histogram& histogram : profile.histograms) {
    if (std::any_of(histogram.objects.begin(), histogram.objects.end(), names_any)) return true;
  }
  return std::any_of(profile.tenures.begin(), profile.tenures.end(),
                     [](const Tenure& tenure) { return !tenure.object.is_all(); });
}

/// By the first frame that has a line and is not an allocator's, and the one that called it.
void ObjectDescriber::add_place(const DataObject& object, ObjectWords& words) {
  for (const Location& call : stack_locations(code_.profile(), object.calls)) {
    const ImageFacts* const facts = code_.facts(call.image);
    if (facts == nullptr) continue;
    for (const Frame& frame : code_.frames(call)) {
      const std::string& function = facts->strings.text(frame.function);
      if (frame.line == 0 || is_allocating_function(function)) continue;
      const std::string place =
          fmt::format("{}:{}", base_name(facts->strings.text(frame.file)), frame.line);
      if (!words.place.empty()) {
        words.caller = fmt::format("{} {}", last_part(without_parameters(function)), place);
        return;
      }
      words.place = place;
      words.kept_in = find_assigned(find_source(*facts, frame.file, frame.line));
    }
  }
}

ObjectWords ObjectDescriber::describe(ObjectId object) {
  ObjectWords words;
  words.name = names_.name(object);
  words.is_named = names_.is_named(object);
  const DataObject* const row =
      names_row(object) ? find_row(code_.profile().objects, object) : nullptr;
  if (row == nullptr) return words;
  const StringTable& strings = code_.profile().strings;
  words.kind = object_kind_word(row->kind);
  words.type = strings.text(row->type);
  words.size_bytes = row->size_bytes;
  words.blocks = row->blocks;
  words.total_bytes = row->total_bytes;
  add_place(*row, words);
  return words;
}

}  // namespace culprit
