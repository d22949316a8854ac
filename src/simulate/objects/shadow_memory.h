#pragma once

// ShadowMemory: for each 16 bytes of the program's memory the number of the data object there.
// Where several objects share the 16 bytes, a table has one number per byte.
//
//     address:  .. 4010         4020         4030         4040
//     shadow:   [  7  ][  7  ][mixed 3][  9  ]          mixed 3: 7 7 7 7 9 9 9 9 ...
//
// It is made of parts for 64 MiB of the program each, which appear with the first object there. One
// thread paints at a time (the caller sees to that); any number may look meanwhile.

#include <cstdint>
#include <memory>
#include <vector>

namespace culprit::objects {

/// A data object, as DataObjects numbers them; 0: nothing is known of the address.
using ObjectNumber = uint32_t;
inline constexpr ObjectNumber kNothing = 0;

class ShadowMemory {
 public:
  ShadowMemory();
  ~ShadowMemory();
  ShadowMemory(const ShadowMemory&) = delete;
  ShadowMemory& operator=(const ShadowMemory&) = delete;

  [[nodiscard]] ObjectNumber find(uint64_t address) const {
    const uint64_t number = address >> kPartShift;
    if (number >= kParts) [[unlikely]]
      return kNothing;
    const uint32_t* const part = __atomic_load_n(&parts_[number], __ATOMIC_ACQUIRE);
    if (part == nullptr) [[unlikely]]
      return kNothing;
    const uint32_t found = __atomic_load_n(&part[place_of(address)], __ATOMIC_RELAXED);
    return found < kFirstMixed ? found : find_mixed(found, address);
  }

  /// Whether all bytes [begin, end) are surely the same object's; where several share 16 bytes it
  /// is not sure.
  [[nodiscard]] bool is_one(uint64_t begin, uint64_t end) const;

  /// The bytes [begin, end) are the object's from now on. If the last 16 bytes are not filled, and
  /// the rest of them is `spare`, that becomes the object's, too: what an allocator rounds up to.
  void paint(uint64_t begin, uint64_t end, ObjectNumber object, ObjectNumber spare = kFirstMixed);

  static constexpr ObjectNumber kMostObjects = uint32_t{1} << 31;

 private:
  static constexpr unsigned kPartShift = 26;
  static constexpr uint64_t kParts = uint64_t{1} << (47 - kPartShift);
  static constexpr unsigned kGranuleShift = 4;
  static constexpr uint64_t kGranule = uint64_t{1} << kGranuleShift;
  static constexpr uint64_t kPartGranules = uint64_t{1} << (kPartShift - kGranuleShift);
  static constexpr uint32_t kFirstMixed = kMostObjects;  // and the number of a Mixed

  struct Mixed {
    ObjectNumber object[kGranule];
  };

  static uint64_t place_of(uint64_t address) {
    return address >> kGranuleShift & (kPartGranules - 1);
  }
  [[nodiscard]] ObjectNumber find_mixed(uint32_t word, uint64_t address) const;
  uint32_t* part_of(uint64_t address, bool makes);
  void paint_within(uint64_t begin, uint64_t end, ObjectNumber object, ObjectNumber spare);
  void set(uint32_t& word, uint32_t value);
  void fill(uint64_t begin, uint64_t end, ObjectNumber object);
  Mixed& mixed(uint32_t word) const {
    const uint32_t number = word - kFirstMixed;
    return mixed_[number / kMixedAtOnce][number % kMixedAtOnce];
  }
  uint32_t make_mixed();

  static constexpr uint32_t kMixedAtOnce = 1 << 12;
  static constexpr uint32_t kMostMixedParts = 1 << 15;
  uint32_t** parts_;  // kParts of them
  Mixed** mixed_;     // kMostMixedParts of them
  uint32_t mixed_count_ = 0;
  std::vector<uint32_t> free_mixed_;
};

}  // namespace culprit::objects
