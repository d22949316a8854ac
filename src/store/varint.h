#pragma once

// Variable-length integers: seven bits a byte, low ones first, the top bit set on all
// but the last byte. Zigzag folds signed numbers so that small ones stay short:
// 0, -1, 1, -2 -> 0, 1, 2, 3.

#include <cstdint>
#include <string>
#include <string_view>

namespace culprit {

inline void put_varint(std::string& out, uint64_t value) {
  char buffer[10];
  size_t size = 0;
  while (value >= 0x80) {
    buffer[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  buffer[size++] = static_cast<char>(value);
  out.append(buffer, size);
}

/// Takes a varint off the front; false if the bytes end in it or it exceeds 64 bits.
inline bool take_varint(std::string_view& in, uint64_t& value) {
  if (!in.empty() && static_cast<unsigned char>(in[0]) < 0x80) [[likely]] {
    value = static_cast<unsigned char>(in[0]);
    in.remove_prefix(1);
    return true;
  }
  value = 0;
  const size_t limit = in.size() < 10 ? in.size() : 10;
  for (size_t i = 0; i < limit; ++i) {
    const uint64_t byte = static_cast<unsigned char>(in[i]);
    if (i == 9 && byte > 1) return false;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

inline uint64_t zigzag(uint64_t value) {
  return (value << 1) ^ (static_cast<int64_t>(value) < 0 ? ~uint64_t{0} : 0);
}

inline uint64_t unzigzag(uint64_t value) {
  return (value >> 1) ^ (~(value & 1) + 1);
}

}  // namespace culprit
