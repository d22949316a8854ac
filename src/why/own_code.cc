#include "why/own_code.h"

#include <algorithm>
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
