#pragma once

// ByteReader: takes values off a span of untrusted bytes, never past the end.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/result.h"

namespace culprit {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes, std::endian order = std::endian::native)
      : bytes_(bytes), order_(order) {}

  [[nodiscard]] size_t remaining() const { return bytes_.size() - at_; }
  [[nodiscard]] size_t position() const { return at_; }

  /// The next integer, in the reader's byte order; an error past the end.
  template <class T>
    requires std::is_integral_v<T>
  Result<T> take() {
    if (remaining() < sizeof(T)) return past_end(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return order_ == std::endian::native ? value : swap(value);
  }

  Result<std::span<const std::byte>> take_bytes(size_t count) {
    if (remaining() < count) return past_end(count);
    const std::span<const std::byte> taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  /// Up to a NUL byte, which is consumed, or to the end.
  std::string_view take_string() {
    if (remaining() == 0) return {};
    const char* start = reinterpret_cast<const char*>(bytes_.data() + at_);
    const size_t length = ::strnlen(start, remaining());
    at_ += length < remaining() ? length + 1 : length;
    return {start, length};
  }

 private:
  template <class T>
  static T swap(T value) {
    unsigned char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof value);
    for (size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    std::memcpy(&value, raw, sizeof value);
    return value;
  }

  [[nodiscard]] Error past_end(size_t wanted) const {
    return Error{"data ends at byte " + std::to_string(bytes_.size()) + ", " +
                 std::to_string(wanted) + " more wanted at " + std::to_string(at_)};
  }

  std::span<const std::byte> bytes_;
  std::endian order_;
  size_t at_ = 0;
};

}  // namespace culprit
