#include "binary/dwarf_lines.h"

#include <dwarf.h>
#include <string>

namespace culprit {
namespace {

uint64_t address_of(Dwarf_Lines* lines, size_t index) {
  Dwarf_Addr address = 0;
  dwarf_lineaddr(dwarf_onesrcline(lines, index), &address);
  return address;
}

/// The first row behind `address`; rows are sorted by address.
size_t find_row_after(Dwarf_Lines* lines, size_t count, uint64_t address) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (address_of(lines, middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

DebugLine read_row(Dwarf_Line* row, PathInterner& paths) {
  Dwarf_Addr address = 0;
  bool is_end = false;
  int line = 0;
  int column = 0;
  unsigned int discriminator = 0;
  dwarf_lineaddr(row, &address);
  dwarf_lineendsequence(row, &is_end);
  DebugLine result{LinkAddress(address), 0, 0, 0, 0};
  if (is_end || dwarf_lineno(row, &line) != 0 || line <= 0) return result;
  dwarf_linecol(row, &column);
  dwarf_linediscriminator(row, &discriminator);
  result.file = paths.intern(dwarf_linesrc(row, nullptr, nullptr));
  result.line = static_cast<uint32_t>(line);
  result.column = static_cast<uint32_t>(column);
  result.discriminator = discriminator;
  return result;
}

void read_range(Dwarf_Lines* lines, size_t count, size_t index, RangeCollector& collector,
                PathInterner& paths) {
  const AddressRange range = collector.wanted()[index];
  size_t row = find_row_after(lines, count, range.begin.value);
  if (row > 0) {
    DebugLine first = read_row(dwarf_onesrcline(lines, row - 1), paths);
    first.address = range.begin;
    // The end of another sequence, far before: this table does not know the range's start.
    if (first.line != 0 || row == count || address_of(lines, row) < range.end.value)
      collector.add_line(index, first);
  }
  for (; row < count; ++row) {
    const DebugLine next = read_row(dwarf_onesrcline(lines, row), paths);
    if (next.address >= range.end) break;
    collector.add_line(index, next);
  }
}

}  // namespace

void PathInterner::begin_unit(Dwarf_Die* unit) {
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  folder_ = folder == nullptr ? "" : folder;
}

uint32_t PathInterner::intern(const char* path) {
  if (path == nullptr) return 0;
  const auto [entry, is_new] = ids_.try_emplace(path, 0);
  if (is_new && *path != '\0') {
    const bool is_relative = *path != '/' && !folder_.empty();
    entry->second =
        collector_.intern(normalize_path(is_relative ? folder_ + '/' + path : std::string(path)));
  }
  return entry->second;
}

bool read_lines(Dwarf_Die* unit, const std::vector<AddressRange>& unit_ranges,
                RangeCollector& collector, PathInterner& paths) {
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (!dwarf_hasattr(unit, DW_AT_stmt_list)) return true;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) return false;
  for (const AddressRange& part : unit_ranges) {
    const auto [first, last] = collector.find_overlaps(part.begin, part.end);
    for (size_t i = first; i < last; ++i)
      if (collector.wants_lines(i)) read_range(lines, count, i, collector, paths);
  }
  return true;
}

}  // namespace culprit
