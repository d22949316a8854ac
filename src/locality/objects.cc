#include "locality/objects.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
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
      const std::string place = place_of_frame(*facts, frame);
      if (!words.place.empty()) {
        if (is_by_program_itself) return;  // the C library called that
        words.caller = fmt::format("{} {}", last_part(without_parameters(function)), place);
        return;
      }
      words.place = place;
      // Rust's is crate::main.
      is_by_program_itself =
          last_part(without_parameters(function)) == "main" || function == "MAIN__";
      words.kept_in = kept_in_.find(call, *facts, frame).text;
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
