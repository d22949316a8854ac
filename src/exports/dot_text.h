#pragma once

// Text for Graphviz: names from a profile must not end their quotes.

#include <string>
#include <string_view>

#include "base/text.h"

namespace culprit {

/// For within quotes.
inline std::string dot_escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

inline std::string dot_quoted(std::string_view text) {
  return '"' + dot_escaped(text) + '"';
}

}  // namespace culprit
