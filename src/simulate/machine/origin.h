#pragma once

// Origin: who brought a line into a cache: an instruction of a thread, and how it asked for the
// line. In 32 bits, since each line that is in a cache has one and each edge has two; that is all
// that the frequent hit compares.

#include <cstddef>
#include <cstdint>

#include "simulate/machine/outcome.h"

namespace culprit::simulate {

/// How a line was asked for. Of a prefetched line: by the access that set the prefetcher off.
enum class LineUse : uint8_t { load, store, fetch };

class Origin {
 public:
  static constexpr uint32_t kMostSites = 1 << 22;
  static constexpr uint32_t kMostThreads = 1 << 8;

  constexpr Origin() = default;  // unknown
  // NOLINTNEXTLINE(google-explicit-constructor): a site is one, of a load by the first thread
  constexpr Origin(Site site, LineUse use = LineUse::load, uint8_t thread = 0)
      : bits_(uint32_t{thread} << kThreadShift | static_cast<uint32_t>(use) << kUseShift |
              (site & (kMostSites - 1))) {}

  [[nodiscard]] constexpr Site site() const { return bits_ & (kMostSites - 1); }
  [[nodiscard]] constexpr LineUse use() const {
    return static_cast<LineUse>(bits_ >> kUseShift & 3);
  }
  [[nodiscard]] constexpr uint8_t thread() const {
    return static_cast<uint8_t>(bits_ >> kThreadShift);
  }
  /// The instruction, however it asks for lines.
  [[nodiscard]] constexpr Origin of_any_use() const { return {site(), LineUse::load, thread()}; }
  [[nodiscard]] constexpr uint32_t bits() const { return bits_; }
  static constexpr Origin of_bits(uint32_t bits) {
    Origin origin;
    origin.bits_ = bits;
    return origin;
  }

  friend constexpr bool operator==(Origin, Origin) = default;
  friend constexpr auto operator<=>(Origin, Origin) = default;

  struct Hash {
    size_t operator()(Origin origin) const { return origin.bits(); }
  };

 private:
  static constexpr uint32_t kUseShift = 22;
  static constexpr uint32_t kThreadShift = 24;
  uint32_t bits_ = 0;
};
static_assert(sizeof(Origin) == 4);

}  // namespace culprit::simulate
