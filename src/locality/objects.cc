#include "locality/objects.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/text.h"
#include "binary/source_statement.h"
#include "locality/object_fields.h"
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

std::string place_of(const ImageFacts& facts, const Frame& frame) {
  return fmt::format("{}:{}", base_name(facts.strings.text(frame.file)), frame.line);
}

}  // namespace

bool has_objects(const Profile& profile) {
  const auto names_any = [](ObjectId object) { return !object.is_all(); };
  for (const Histogram& histogram : profile.histograms) {
    if (std::any_of(histogram.objects.begin(), histogram.objects.end(), names_any)) return true;
  }
  return std::any_of(profile.tenures.begin(), profile.tenures.end(),
                     [](const Tenure& tenure) { return !tenure.object.is_all(); });
}

/// Blocks are known by the first frame that has a line and is not an allocator's, and by the one
/// that called it.
void ObjectDescriber::add_place(const DataObject& object, ObjectWords& words) {
  bool is_by_program_itself = false;
  for (const Location& call : stack_locations(code_.profile(), object.calls)) {
    const ImageFacts* const facts = code_.facts(call.image);
    if (facts == nullptr) continue;
    for (const Frame& frame : code_.frames(call)) {
      const std::string& function = facts->strings.text(frame.function);
      if (frame.line == 0 || is_allocating_function(function)) continue;
      const std::string place = place_of(*facts, frame);
      if (!words.place.empty()) {
        if (is_by_program_itself) return;  // the C library called that
        words.caller = fmt::format("{} {}", last_part(without_parameters(function)), place);
        return;
      }
      words.place = place;
      is_by_program_itself = function == "main" || function == "MAIN__";
      const std::string text = find_source(*facts, frame.file, frame.line);
      const std::vector<std::string> names = find_allocated_names(text);
      words.kept_in = names.empty()       ? find_assigned(text)
                      : names.size() == 1 ? names.front()
                                          : choose_name(names, place, call);
    }
  }
}

/// A statement that allocates several does it in its order, by a call each.
std::string ObjectDescriber::choose_name(const std::vector<std::string>& names,
                                         const std::string& place, const Location& call) {
  std::vector<FileOffset>& calls = calls_at_[place];
  if (calls.empty()) {
    for (const DataObject& object : code_.profile().objects) {
      if (object.kind != ObjectKind::heap) continue;
      if (const std::optional<Location> at = find_call_at(object, place)) {
        if (at->image == call.image) calls.push_back(at->offset);
      }
    }
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  }
  const auto found = std::lower_bound(calls.begin(), calls.end(), call.offset);
  const auto number = static_cast<size_t>(found - calls.begin());
  return calls.size() == names.size() && number < names.size()
             ? names[number]
             : fmt::format("{}", fmt::join(names, " or "));
}

/// Where the call is that asks for a block at this place.
std::optional<Location> ObjectDescriber::find_call_at(const DataObject& object,
                                                      const std::string& place) {
  for (const Location& call : stack_locations(code_.profile(), object.calls)) {
    const ImageFacts* const facts = code_.facts(call.image);
    if (facts == nullptr) continue;
    for (const Frame& frame : code_.frames(call)) {
      if (frame.line == 0 || is_allocating_function(facts->strings.text(frame.function))) continue;
      return place_of(*facts, frame) == place ? std::optional(call) : std::nullopt;
    }
  }
  return std::nullopt;
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
  if (const ObjectLayout layout = find_layout(code_, object); layout.is_known()) {
    words.type = layout.type();
    words.element_bytes = layout.element_bytes();
  }
  words.size_bytes = row->size_bytes;
  words.blocks = row->blocks;
  words.total_bytes = row->total_bytes;
  add_place(*row, words);
  return words;
}

}  // namespace culprit
