#include "attribute/allocated_names.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attribute/object_names.h"
#include "attribute/source_lines.h"
#include "base/names.h"
#include "binary/source_statement.h"
#include "model/counts.h"

namespace culprit {
namespace {

bool is_word_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_identifier(const std::string& name) {
  return std::all_of(name.begin(), name.end(), is_word_part);
}

/// Whether what is assigned is a call of the function, and not what another one makes of it.
bool assigns_call_of(std::string_view text, std::string_view function) {
  const size_t at = text.find(std::string(function) + "(");
  if (at == std::string_view::npos || at == 0 || is_word_part(text[at - 1])) return false;
  const size_t equals = text.rfind('=', at);
  if (equals == std::string_view::npos) return false;
  for (size_t i = equals + 1; i < at; ++i) {
    if (text[i] == '(' && is_word_part(text[i - 1])) return false;
  }
  return true;
}

}  // namespace

std::string place_of_frame(const ImageFacts& facts, const Frame& frame) {
  return fmt::format("{}:{}", base_name(facts.strings.text(frame.file)), frame.line);
}

AllocatedNames::Name AllocatedNames::find(const Location& call, const ImageFacts& facts,
                                          const Frame& frame) {
  const std::string text(find_source_line(facts, frame.file, frame.line).value_or(""));
  const std::string place = place_of_frame(facts, frame);
  const std::vector<std::string> fortran = find_allocated_names(text);
  if (fortran.size() == 1) return {fortran.front(), true};
  if (!fortran.empty()) return choose(fortran, place, call);
  const std::vector<std::string> several = find_all_assigned(text);
  const Name one = several.size() > 1    ? choose(several, place, call)
                   : several.size() == 1 ? Name{several.front(), true}
                                         : Name{find_assigned(text), true};
  const bool is_assigned = text.find('=') != std::string::npos;
  const bool may_be_result = is_assigned && is_identifier(one.text) &&
                             facts.strings.text(frame.function) != "main" && !is_global(one.text);
  return {one.text, one.says_what && !one.text.empty() && !may_be_result};
}

/// Whether a variable of that name is among the data objects.
bool AllocatedNames::is_global(const std::string& name) {
  const Profile& profile = code_.profile();
  if (!globals_) {
    globals_.emplace();
    for (const DataObject& object : profile.objects) {
      if (object.kind == ObjectKind::global) globals_->insert(profile.strings.text(object.name));
    }
  }
  return globals_->contains(name);
}

std::string AllocatedNames::find_result(const ImageFacts& facts, const Frame& frame,
                                        std::string_view function) {
  const std::string_view text = find_source_line(facts, frame.file, frame.line).value_or("");
  return assigns_call_of(text, function) ? find_assigned(text) : "";
}

/// A line that allocates several does it in its order, by a call each.
AllocatedNames::Name AllocatedNames::choose(const std::vector<std::string>& names,
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
  if (calls.size() == names.size() && number < names.size()) return {names[number], true};
  return {fmt::format("{}", fmt::join(names, " or ")), false};
}

/// Where the call is that asks for a block at this place.
std::optional<Location> AllocatedNames::find_call_at(const DataObject& object,
                                                     const std::string& place) {
  for (const Location& call : stack_locations(code_.profile(), object.calls)) {
    const ImageFacts* const facts = code_.facts(call.image);
    if (facts == nullptr) continue;
    for (const Frame& frame : code_.frames(call)) {
      if (frame.line == 0 || is_allocating_function(facts->strings.text(frame.function))) continue;
      return place_of_frame(*facts, frame) == place ? std::optional(call) : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace culprit
