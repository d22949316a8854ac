#include "attribute/object_names.h"

#include <algorithm>
#include <fmt/format.h>

#include "attribute/system_libraries.h"
#include "base/names.h"
#include "binary/demangle.h"
#include "model/counts.h"
#include "model/instance_names.h"

namespace culprit {
namespace {

/// Libraries whose own functions allocate for those who call them.
bool is_library_of_containers(std::string_view function) {
  constexpr std::string_view kBegins[] = {
      "std::",    "__gnu_cxx::", "operator new", "boost::",     "absl::",       "alloc::",
      "<alloc::", "core::",      "<core::",      "hashbrown::", "<hashbrown::", "__rust_",
      "__rdl_",   "eastl::",     "folly::",      "<std::"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return function.starts_with(begin); });
}

/// Allocators that take the place of the C library's.
bool is_allocator_library(std::string_view module) {
  constexpr std::string_view kBegins[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return module.starts_with(begin); });
}

bool allocates_for_others(std::string_view module) {
  return is_system_library(module) || is_allocator_library(module);
}

bool is_dynamic_linker(std::string_view module) {
  return module.starts_with("ld-linux") || module.starts_with("ld-2");
}

/// Tables of the linker's and the compiler's, in which no variable lies.
bool is_table_of_linker(std::string_view section) {
  constexpr std::string_view kBegins[] = {
      "[.got", "[.plt",      "[.dyn",  "[.hash",     "[.gnu.hash", "[.gnu.version",
      "[.rel", "[.eh_frame", "[.note", "[.gcc_exce", "[.init_arr", "[.fini_arr"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return section.starts_with(begin); });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

}  // namespace

bool is_allocating_function(std::string_view name) {
  if (is_library_of_containers(pretty_name(name))) return true;  // without what it returns
  const std::string own = lower(last_part(without_parameters(name)));
  constexpr std::string_view kParts[] = {"malloc",   "calloc", "realloc", "zalloc",
                                         "memalign", "arena",  "mmap",    "gc_new"};
  constexpr std::string_view kEnds[] = {"alloc",  "alloc0", "strdup", "strndup",
                                        "memdup", "_new0",  "growbuf"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return own.find(part) != std::string::npos; }) ||
         std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return own.ends_with(end); });
}

const std::string& ObjectNames::name(ObjectId object) {
  return find(object).text;
}

bool ObjectNames::is_named(ObjectId object) {
  return find(object).is_of_data;
}

const ObjectNames::Name& ObjectNames::find(ObjectId object) {
  static const Name kNotRecorded{"[not recorded]"};
  static const Name kNone{"[no access]"};
  static const Name kUnknown{"[unknown]"};
  if (object.is_all()) return kNotRecorded;
  if (object.value == kNoAccess.value) return kNone;
  const size_t rows = code_.profile().objects.size();
  if (object == kUnknownObject || object.value >= rows) return kUnknown;
  names_.resize(rows);
  Name& name = names_[object.value];
  if (name.text.empty()) name = make_name(object);
  return name;
}

ObjectNames::Name ObjectNames::make_name(ObjectId id) {
  const Profile& profile = code_.profile();
  const DataObject& object = profile.objects[id.value];
  const std::string& own = profile.strings.text(object.name);
  const bool is_by_calls =
      own.empty() && (object.kind == ObjectKind::heap || object.kind == ObjectKind::mapping);
  if (is_by_calls) {
    Name name = name_by_calls(object);
    if (object.size_bytes != 0) name.text += fmt::format(" {} B", object.size_bytes);
    return name;
  }
  if (object.kind == ObjectKind::heap && own.starts_with(kInstanceMark)) {
    const Name site = name_by_calls(object);
    return {fmt::format("{} {}", site.text, own), site.is_of_data};
  }
  if (object.kind == ObjectKind::stack && !object.site.image.is_all()) {
    const std::string function = name_of_function(object.site);
    const size_t end = own.find(kBeforePlace);  // of a variable's name
    if (end == std::string::npos) return {"stack of " + function, true};
    const std::string place = own.substr(end + 1);
    return {
        fmt::format("{} in {}{}{}", own.substr(0, end), function, place.empty() ? "" : " ", place),
        true};
  }
  if (own.empty()) return {"[unknown]"};
  if (own == kAllocatorObject && object.calls.value < profile.stacks.size()) {
    const Name caller = name_by_calls(object);
    return {fmt::format("{} for {}", own, caller.text), caller.is_of_data};
  }
  if (object.kind == ObjectKind::mapping && own.starts_with('[')) return {own};
  if (object.kind == ObjectKind::mapping) return {fmt::format("[mapped {}]", own), true};
  const bool is_stack = object.kind == ObjectKind::stack;
  const bool has_brackets = own.starts_with('[');  // a section, an allocator's own memory
  return {object.kind == ObjectKind::global ? name_of_variable(own) : own,
          is_stack || !has_brackets || is_table_of_linker(own)};
}

std::string ObjectNames::name_of_function(const Location& begin) {
  const ImageFacts* const facts = code_.facts(begin.image);
  const std::vector<Frame> frames = code_.frames(begin);
  const bool is_known = facts != nullptr && !frames.empty() && frames.back().function.value != 0 &&
                        !frames.back().function.is_all();
  return is_known ? pretty_name(facts->strings.text(frames.back().function)) : code_.unnamed(begin);
}

/// What the source calls it, where that is the name of one variable alone.
std::string ObjectNames::name_of_variable(const std::string& symbol) {
  const std::string_view stem = without_number(symbol);
  if (stem.size() == symbol.size()) return demangle(symbol);
  const Profile& profile = code_.profile();
  if (stems_.empty()) {
    for (const DataObject& one : profile.objects) {
      if (one.kind != ObjectKind::global && one.kind != ObjectKind::range) continue;
      ++stems_[std::string(without_number(profile.strings.text(one.name)))];
    }
  }
  return stems_[std::string(stem)] == 1 ? demangle(std::string(stem)) : symbol;
}

ObjectNames::Name ObjectNames::name_by_calls(const DataObject& object) {
  const char* const what = object.kind == ObjectKind::heap ? "" : "mmap ";
  std::string fallback;
  std::string found;  // what asks for the memory, whose callers may tell its results apart
  std::string asker;
  bool is_of_linker = object.calls.value < code_.profile().stacks.size();
  for (const Location& at : stack_locations(code_.profile(), object.calls)) {
    const std::string module = base_name(code_.module(at.image));
    const ImageFacts* const facts = code_.facts(at.image);
    is_of_linker = is_of_linker && is_dynamic_linker(module);
    bool has_frame = false;
    for (const Frame& frame : code_.frames(at)) {
      if (facts == nullptr || frame.function.value == 0 || frame.function.is_all()) continue;
      has_frame = true;
      const std::string& function = facts->strings.text(frame.function);
      if (!found.empty()) {
        const std::string result = kept_in_.find_result(*facts, frame, asker);
        return {result.empty() ? found : fmt::format("{}: {}", result, found), true};
      }
      std::string name(without_parameters(pretty_name(function)));
      const bool is_asker = !is_allocating_function(function) && !allocates_for_others(module);
      if (is_asker && frame.line != 0) {
        AllocatedNames::Name kept_in = kept_in_.find(at, *facts, frame);
        if (kept_in.says_what) name = std::move(kept_in.text);
      }
      name = what + name;
      if (frame.line != 0) name += " " + place_of_frame(*facts, frame);
      if (is_asker) {
        found = std::move(name);
        asker = last_part(without_parameters(pretty_name(function)));
      } else if (fallback.empty() || !is_allocating_function(function)) {
        fallback = std::move(name);
      }
    }
    if (!found.empty() || has_frame || allocates_for_others(module)) continue;
    return {what + code_.unnamed(at)};
  }
  if (!found.empty()) return {found, true};
  if (is_of_linker) return {"[dynamic linker]", true};  // its own data
  if (!fallback.empty()) return {fallback};
  return {object.kind == ObjectKind::heap ? "[heap]" : "[mapped]"};
}

}  // namespace culprit
