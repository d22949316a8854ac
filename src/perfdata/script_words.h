#pragma once

// Small steps along a line of text.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/number.h"
#include "base/text.h"

namespace culprit {

/// The next word, cut from the front of `text`; "" at the end.
inline std::string_view take_word(std::string_view& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return text = {};
  const size_t end = std::min(text.find_first_of(" \t\r", begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

/// Hexadecimal, with 0x or without.
inline std::optional<uint64_t> find_hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return find_number(text, 16);
}

inline std::optional<uint32_t> find_id(std::string_view text) {
  const std::optional<uint64_t> number = find_number(text, 10);
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

/// Passes over `prefix`; false, and nothing done, if `text` does not begin with it.
inline bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace culprit
