#pragma once

// Bytes as lower-case hexadecimal digits, as build-ids are written.

#include <cstddef>
#include <span>
#include <string>

namespace culprit {

inline std::string format_hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<unsigned>(byte) >> 4];
    text += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace culprit
