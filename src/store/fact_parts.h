#pragma once

// FactParts: which parts of ImageFacts somebody wants, as a set.
//
//     const FactParts parts{FactPart::functions, FactPart::lines};
//     reader.read_facts(image, parts | FactPart::code);

#include <cstdint>
#include <initializer_list>

namespace culprit {

enum class FactPart : uint8_t {
  functions,
  lines,
  inlines,
  blocks,  // where the file has none, the code to find them in
  code,
  sources,
};

class FactParts {
 public:
  constexpr FactParts() = default;
  constexpr FactParts(FactPart part) : bits_(bit(part)) {}
  constexpr FactParts(std::initializer_list<FactPart> parts) {
    for (const FactPart part : parts) bits_ |= bit(part);
  }
  static constexpr FactParts all() {
    FactParts parts;
    parts.bits_ = (bit(FactPart::sources) << 1) - 1;  // it is the last one
    return parts;
  }

  [[nodiscard]] constexpr bool has(FactPart part) const { return (bits_ & bit(part)) != 0; }
  [[nodiscard]] constexpr bool has_all(FactParts parts) const {
    return (parts.bits_ & ~bits_) == 0;
  }
  constexpr FactParts& operator|=(FactParts more) {
    bits_ |= more.bits_;
    return *this;
  }
  friend constexpr FactParts operator|(FactParts parts, FactParts more) { return parts |= more; }
  friend constexpr bool operator==(FactParts, FactParts) = default;

 private:
  static constexpr uint32_t bit(FactPart part) {
    return uint32_t{1} << static_cast<uint32_t>(part);
  }

  uint32_t bits_ = 0;
};

}  // namespace culprit
