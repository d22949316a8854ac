#include "why/own_code.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "attribute/system_libraries.h"
#include "base/names.h"
#include "base/text.h"
#include "report/row_filter.h"

namespace culprit {
CodeOwner find_code_owner(const CodeIndex& code, ImageId image) {
  const Image* const row = code.image(image);
  if (row == nullptr) return CodeOwner::library;
  switch (row->kind) {
    case ImageKind::kernel:
    case ImageKind::module:
      return CodeOwner::kernel;
    case ImageKind::vdso:
      return CodeOwner::library;
    case ImageKind::unknown:
      return code.profile().strings.text(row->path) == kAnonymousPath ? CodeOwner::program
                                                                      : CodeOwner::library;
    default:
      break;
  }
  return is_system_library(base_name(code.profile().strings.text(row->path))) ? CodeOwner::library
                                                                              : CodeOwner::program;
}

OwnPlace find_own_place(CodeIndex& code, const std::vector<Location>& stack) {
  OwnPlace of_headers;
  for (const Location& place : stack) {
    if (find_code_owner(code, place.image) != CodeOwner::program) continue;
    const std::vector<Frame> frames = code.frames(place);
    if (frames.empty()) return {code.unnamed(place), ""};
    const ImageFacts& facts = *code.facts(place.image);
    const Frame* const own = find_own_frame(facts, frames);
    if (own == nullptr && !of_headers.function.empty()) continue;
    const Frame& frame = own == nullptr ? frames.back() : *own;
    OwnPlace found{facts.strings.text(frame.function),
                   name_line(facts.strings.text(frame.file), frame.line)};
    if (own != nullptr) return found;
    of_headers = std::move(found);
  }
  return of_headers;
}

std::string name_line(std::string_view file, uint32_t line) {
  return line == 0 ? "" : fmt::format("{}:{}", base_name(file), line);
}

bool are_of_code(const std::vector<Filter>& filters) {
  return std::ranges::all_of(filters, [](const Filter& filter) {
    return filter.level == RowLevel::function || filter.level == RowLevel::module;
  });
}

bool means_frame(const std::vector<Filter>& filters, const CodeIndex& code, ImageId image,
                 std::string_view function) {
  return std::ranges::all_of(filters, [&](const Filter& filter) {
    if (filter.level == RowLevel::function) {
      return matches_function(std::string(function), filter.pattern);
    }
    const std::string module = code.module(image);
    return matches_pattern(module, filter.pattern) ||
           matches_pattern(base_name(module), filter.pattern);
  });
}

bool is_on_stack(const std::vector<Filter>& filters, CodeIndex& code,
                 const std::vector<Location>& stack) {
  if (filters.empty()) return true;
  return std::ranges::any_of(stack, [&](const Location& place) {
    if (find_code_owner(code, place.image) == CodeOwner::kernel) return false;
    const std::vector<Frame> frames = code.frames(place);
    if (frames.empty()) return means_frame(filters, code, place.image, "");
    return std::ranges::any_of(frames, [&](const Frame& frame) {
      const std::string& function = code.facts(place.image)->strings.text(frame.function);
      return means_frame(filters, code, place.image, function);
    });
  });
}

}  // namespace culprit
