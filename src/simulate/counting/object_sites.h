#pragma once

// ObjectSites: the site of (instruction, data object), as one thread finds it. Most accesses are to
// the object that the instruction accessed last; of the others most are found in a small table, by
// what was there last at the place. All else is for CountedObjects, which knows those of all
// threads.

#include <cstdint>
#include <vector>

#include "simulate/counts/counts_file.h"
#include "simulate/machine/zeroed_array.h"
#include "simulate/objects/shadow_memory.h"

namespace culprit::counting {

class ObjectSites {
 public:
  struct Latest {
    uint32_t inverted = 0;  // the bits of the object's number, so that zeros are no object's
    uint32_t site = 0;
    [[nodiscard]] bool holds(objects::ObjectNumber object) const { return inverted == ~object; }
  };

  ObjectSites() : latest_(counts_file::kMaxSites), others_(kOthers) {}

  [[nodiscard]] const Latest& latest(uint32_t instruction) const { return latest_[instruction]; }

  /// One of those before the latest; 0: it has to be found elsewhere.
  [[nodiscard]] uint32_t find(uint32_t instruction, objects::ObjectNumber object) const {
    const Other& other = others_[place_of(instruction, object)];
    return other.instruction == instruction && other.inverted == ~object ? other.site : 0;
  }
  void note(uint32_t instruction, objects::ObjectNumber object, uint32_t site) {
    latest_[instruction] = {~object, site};
    others_[place_of(instruction, object)] = {instruction, ~object, site};
  }

 private:
  static constexpr size_t kOthers = 1 << 14;
  struct Other {
    uint32_t instruction = 0;
    uint32_t inverted = 0;
    uint32_t site = 0;
  };
  static size_t place_of(uint32_t instruction, objects::ObjectNumber object) {
    const uint64_t both = uint64_t{instruction} << 32 | object;
    return (both * 0x9e37'79b9'7f4a'7c15) >> 50;
  }
  static_assert(kOthers == size_t{1} << (64 - 50));

  simulate::ZeroedArray<Latest> latest_;  // by site of the instruction
  simulate::ZeroedArray<Other> others_;
};

}  // namespace culprit::counting
