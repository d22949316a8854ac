#pragma once

// Text for Graphviz: names from a profile must not end their quotes.

#include <string>
#include <string_view>

#include "base/text.h"

namespace culprit {

/// The text as it may stand within quotes.
inline std::string dot_escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// The first line: what `culprit export` knows its own graphs by when it is to replace one.
inline constexpr std::string_view kDotMark = "// culprit export --to dot\n";

inline std::string dot_quoted(std::string_view text) {
  return '"' + dot_escaped(text) + '"';
}

}  // namespace culprit
