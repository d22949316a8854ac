#pragma once

// Bytes laid out by hand, for tests of parsers.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace culprit::testing {

inline constexpr auto kLittle = std::endian::little;

class Bytes {
 public:
  explicit Bytes(std::endian order = std::endian::little) : order_(order) {}

  Bytes& u8(uint8_t value) { return integer(value, 1); }
  Bytes& u16(uint16_t value) { return integer(value, 2); }
  Bytes& u32(uint32_t value) { return integer(value, 4); }
  Bytes& u64(uint64_t value) { return integer(value, 8); }
  Bytes& zeros(size_t count) {
    data_.append(count, '\0');
    return *this;
  }
  /// Text, a NUL, and as many more as reach a multiple of 8.
  Bytes& padded(std::string_view text) {
    data_ += text;
    do {
      data_ += '\0';
    } while (data_.size() % 8 != 0);
    return *this;
  }
  Bytes& raw(std::string_view text) {
    data_ += text;
    return *this;
  }

  [[nodiscard]] size_t size() const { return data_.size(); }
  [[nodiscard]] std::span<const std::byte> span() const { return std::as_bytes(std::span(data_)); }

  /// A record of this type and body, with its header in front.
  static Bytes record(uint32_t type, uint16_t misc, const Bytes& body) {
    Bytes record(body.order_);
    record.u32(type).u16(misc).u16(static_cast<uint16_t>(body.size() + 8)).raw(body.data_);
    return record;
  }

 private:
  Bytes& integer(uint64_t value, size_t size) {
    for (size_t i = 0; i < size; ++i) {
      const size_t shift = 8 * (order_ == std::endian::little ? i : size - 1 - i);
      data_ += static_cast<char>(value >> shift);
    }
    return *this;
  }

  std::endian order_;
  std::string data_;
};

}  // namespace culprit::testing
