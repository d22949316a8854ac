#pragma once

// Which function a report tells its reader to look at next, and by what words.

#include <string>

#include "attribute/function_words.h"

namespace culprit {

/// Whether it is the name of a function, and not of a place without one.
inline bool can_annotate(const std::string& function) {
  return !function.empty() && function.front() != '[' && function.find("+0x") == std::string::npos;
}

/// Words for `culprit annotate` that fit a line.
inline std::string make_next_words(CodeIndex& code, const NamedFunction& function) {
  constexpr size_t kRoom = 50;
  return make_function_words(code, function, kRoom);
}

}  // namespace culprit
