#include "attribute/object_names.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "binary/demangle.h"
#include "model/counts.h"

namespace culprit {
namespace {

/// Libraries whose own functions allocate for those who call them.
bool is_library_of_containers(std::string_view function) {
  constexpr std::string_view kBegins[] = {
      "std::",    "__gnu_cxx::", "operator new", "boost::",     "absl::",       "alloc::",
      "<alloc::", "core::",      "<core::",      "hashbrown::", "<hashbrown::", "__rust_",
      "__rdl_",   "void std::",  "eastl::",      "folly::",     "<std::",       "char* std::"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return function.starts_with(begin); });
}

bool is_system_library(std::string_view module) {
  constexpr std::string_view kBegins[] = {
      "libc.so",     "libc-2",     "libstdc++.so", "libc++.so",   "ld-linux",   "ld-2",
      "libgcc_s.so", "libpthread", "libjemalloc",  "libtcmalloc", "libmimalloc"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return module.starts_with(begin); });
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
  if (is_library_of_containers(name)) return true;
  const std::string own = lower(last_part(without_parameters(name)));
  constexpr std::string_view kParts[] = {"malloc", "calloc", "realloc", "zalloc", "memalign"};
  constexpr std::string_view kEnds[] = {"alloc",  "alloc0", "strdup", "strndup",
                                        "memdup", "_new0",  "growbuf"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return own.find(part) != std::string::npos; }) ||
         std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return own.ends_with(end); });
}

const std::string& ObjectNames::name(ObjectId object) {
  static const std::string kNotRecorded = "[not recorded]";
  static const std::string kNone = "[no access]";
  static const std::string kUnknown = "[unknown]";
  if (object.is_all()) return kNotRecorded;
  if (object.value == kNoAccess.value) return kNone;
  const size_t rows = code_.profile().objects.size();
  if (object == kUnknownObject || object.value >= rows) return kUnknown;
  names_.resize(rows);
  std::string& name = names_[object.value];
  if (name.empty()) name = make_name(object);
  return name;
}

std::string ObjectNames::make_name(ObjectId id) {
  const Profile& profile = code_.profile();
  const DataObject& object = profile.objects[id.value];
  const std::string& own = profile.strings.text(object.name);
  const bool is_by_calls =
      own.empty() && (object.kind == ObjectKind::heap || object.kind == ObjectKind::mapping);
  if (is_by_calls) {
    const std::string name = name_by_calls(object);
    return object.size_bytes == 0 ? name : fmt::format("{} {} B", name, object.size_bytes);
  }
  if (own.empty()) return "[unknown]";
  if (object.kind == ObjectKind::global) return demangle(own);
  if (object.kind == ObjectKind::mapping) return fmt::format("[mapped {}]", own);
  return own;
}

std::string ObjectNames::name_by_calls(const DataObject& object) {
  const char* const what = object.kind == ObjectKind::heap ? "" : "mmap ";
  std::string fallback;
  for (const Location& at : stack_locations(code_.profile(), object.calls)) {
    const std::string module = base_name(code_.module(at.image));
    const ImageFacts* const facts = code_.facts(at.image);
    bool has_frame = false;
    for (const Frame& frame : code_.frames(at)) {
      if (facts == nullptr || frame.function.value == 0 || frame.function.is_all()) continue;
      has_frame = true;
      const std::string& function = facts->strings.text(frame.function);
      std::string name = fmt::format("{}{}", what, pretty_name(without_parameters(function)));
      if (frame.line != 0) {
        name += fmt::format(" {}:{}", base_name(facts->strings.text(frame.file)), frame.line);
      }
      const bool is_named = !is_allocating_function(function) && !is_system_library(module);
      if (is_named) return name;
      if (fallback.empty() || !is_allocating_function(function)) fallback = name;
    }
    if (has_frame || is_system_library(module)) continue;
    return what + code_.unnamed(at);
  }
  if (!fallback.empty()) return fallback;
  return object.kind == ObjectKind::heap ? "[heap]" : "[mapped]";
}

}  // namespace culprit
