#pragma once

// Numbers in text: all of it or nothing.

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace culprit {

inline std::optional<uint64_t> find_number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Finite, in plain or scientific notation.
inline std::optional<double> find_real_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace culprit
