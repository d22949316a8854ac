#pragma once

// Internal to `binary`: the line table of one unit, by libdw.

#include <elfutils/libdw.h>
#include <string>
#include <unordered_map>

#include "binary/range_collector.h"

namespace culprit {

/// Interns source paths: the same text is met with every row, at the same place in memory.
/// libdw leaves paths relative to the compilation folder as they are; they are joined here.
class PathInterner {
 public:
  explicit PathInterner(RangeCollector& collector) : collector_(collector) {}
  /// The paths that follow are of this unit.
  void begin_unit(Dwarf_Die* unit);
  uint32_t intern(const char* path);

 private:
  RangeCollector& collector_;
  std::string folder_;  // where the unit was compiled
  std::unordered_map<const char*, uint32_t> ids_;
};

/// Adds the rows of the unit that lie in wanted ranges overlapping `unit_ranges`. False if
/// the table is damaged.
bool read_lines(Dwarf_Die* unit, const std::vector<AddressRange>& unit_ranges,
                RangeCollector& collector, PathInterner& paths);

}  // namespace culprit
