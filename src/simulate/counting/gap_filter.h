#pragma once

// GapFilter: the lines that a thread used lately between two windows. What it holds need not go
// through the model's caches: only what was not used for a while does, so that the larger levels,
// which no warm-up could fill, keep up with the run. It is small, for speed, and of one way.

#include <array>
#include <cstdint>

namespace culprit::counting {

class GapFilter {
 public:
  /// Whether the line was used lately, as it is now; from now on it was.
  [[gnu::always_inline]] bool finds(uint64_t address, bool is_store) {
    const uint64_t line = address >> kLineShift;
    uint32_t& entry = entries_[line % kEntries];
    const auto wanted = static_cast<uint32_t>(line / kEntries) << 1;
    // A line that was written has been read, too.
    if ((entry | (is_store ? 0 : 1)) == (wanted | 1)) return true;
    entry = wanted | (is_store ? 1 : 0);
    if (++changes_ == kForgetAfter) forget();
    return false;
  }
  void forget() {
    entries_.fill(kNothing);
    changes_ = 0;
  }

 private:
  // Lines of any machine are at least as long; of a longer one each part is found by itself.
  static constexpr uint32_t kLineShift = 6;
  static constexpr uint32_t kEntries = 4096;
  static constexpr uint32_t kNothing = ~uint32_t{1};  // of no address of the program
  /// After so many accesses all is forgotten, so that the model uses now and then what is always in
  /// use.
  static constexpr uint32_t kForgetAfter = 16 * kEntries;

  std::array<uint32_t, kEntries> entries_{};
  uint32_t changes_ = 0;
};

}  // namespace culprit::counting
