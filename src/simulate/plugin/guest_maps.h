#pragma once

// GuestMaps: which file an address of the program shows, asked when a block is translated.
// Read from /proc/self/maps where it is not known yet; what the program maps or unmaps
// afterwards makes us forget the range. (QEMU maps the program's files into itself, the
// program's addresses shifted by guest_base, mostly 0.)

#include <cstdint>
#include <map>

#include "simulate/plugin/counts_writer.h"

namespace culprit {

class GuestMaps {
 public:
  explicit GuestMaps(CountsWriter& writer) : writer_(writer) {}

  void set_base(uint64_t guest_base) { base_ = guest_base; }

  /// The number of the mapping at `address`; 0: memory without a file.
  uint32_t find(uint64_t address);

  /// What was there has changed.
  void forget(uint64_t start, uint64_t bytes);

 private:
  struct Range {
    uint64_t end;
    uint32_t mapping;
  };
  Range read(uint64_t address, uint64_t* start);

  CountsWriter& writer_;
  uint64_t base_ = 0;
  std::map<uint64_t, Range> ranges_;  // by start, without overlaps
};

}  // namespace culprit
