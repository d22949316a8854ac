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

}  // namespace

std::string find_assigned(std::string_view statement) {
  // The first "=" that is not part of another operator.
  size_t equals = std::string_view::npos;
  for (size_t i = 1; i + 1 < statement.size(); ++i) {
    if (statement[i] != '=' || statement[i + 1] == '=') continue;
    if (std::string_view("=!<>+-*/%&|^").find(statement[i - 1]) != std::string_view::npos) continue;
    equals = i;
    break;
  }
  if (equals == std::string_view::npos) return "";
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

/// By the first frame that has a line and is not an allocator's.
void ObjectDescriber::add_place(const DataObject& object, ObjectWords& words) {
  for (const Location& call : stack_locations(code_.profile(), object.calls)) {
    const ImageFacts* const facts = code_.facts(call.image);
    if (facts == nullptr) continue;
    for (const Frame& frame : code_.frames(call)) {
      const bool is_helper = is_allocating_function(facts->strings.text(frame.function));
      if (frame.line == 0 || is_helper) continue;
      words.place = fmt::format("{}:{}", base_name(facts->strings.text(frame.file)), frame.line);
      words.kept_in = find_assigned(find_source(*facts, frame.file, frame.line));
      return;
    }
  }
}

ObjectWords ObjectDescriber::describe(ObjectId object) {
  ObjectWords words;
  words.name = names_.name(object);
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
