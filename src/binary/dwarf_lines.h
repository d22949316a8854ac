#pragma once

// Internal to `binary`: the files and the line table of one unit: by line_program.h, and by libdw
// where that finds nothing.

#include <elfutils/libdw.h>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "binary/line_program.h"
#include "binary/range_collector.h"

namespace culprit {

/// Interns source paths: the same text is met with every row, at the same place in memory.
/// Paths relative to the compilation folder are joined here.
class PathInterner {
 public:
  explicit PathInterner(RangeCollector& collector) : collector_(collector) {}
  /// The paths that follow are of this unit.
  void begin_unit(Dwarf_Die* unit);
  uint32_t intern(const char* path);
  /// Interns a text that may go.
  uint32_t intern_copy(const std::string& path);
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  RangeCollector& collector_;
  std::string folder_;  // where the unit was compiled
  std::unordered_map<const char*, uint32_t> ids_;
};

/// The line tables of a file, and how many units have asked for each: libdw reads one once,
/// however many units share it.
struct LineTables {
  LineSections sections;
  std::unordered_map<uint64_t, uint32_t> units;  // by offset
};

/// What the line table of one unit says.
class UnitLines {
 public:
  /// Call it after `paths` has begun the unit.
  UnitLines(const Dwarf_Die& unit, LineTables& tables, PathInterner& paths);

  /// The path of the unit's file of this number; 0: none.
  uint32_t file(uint64_t number);
  /// Where `die`, maybe by its origin, which may be of another unit, was declared.
  uint32_t file_of_declaration(Dwarf_Die* die);
  /// Adds the rows of the unit that lie in wanted ranges overlapping `unit_ranges`. False if
  /// the table is damaged.
  bool read_rows(const std::vector<AddressRange>& unit_ranges, RangeCollector& collector);

 private:
  bool read_rows_by_libdw(const std::vector<size_t>& open, RangeCollector& collector);

  Dwarf_Die unit_;
  PathInterner& paths_;
  std::optional<LineProgram> program_;
  std::vector<std::optional<uint32_t>> ids_;  // by number of a file of `program_`
  Dwarf_Files* files_ = nullptr;              // without one
  size_t file_count_ = 0;
};

}  // namespace culprit
