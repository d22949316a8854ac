#include "binary/dwarf_lines.h"

#include <algorithm>
#include <dwarf.h>
#include <string>

namespace culprit {
namespace {

// A damaged file may have thousands of units of one large table. From here on libdw has it.
constexpr uint32_t kMostUnitsOfTable = 8;

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

uint32_t PathInterner::intern_copy(const std::string& path) {
  if (path.empty()) return 0;
  const bool is_relative = path.front() != '/' && !folder_.empty();
  return collector_.intern(normalize_path(is_relative ? folder_ + '/' + path : path));
}

uint32_t PathInterner::intern(const char* path) {
  if (path == nullptr) return 0;
  const auto [entry, is_new] = ids_.try_emplace(path, 0);
  if (is_new) entry->second = intern_copy(path);
  return entry->second;
}

UnitLines::UnitLines(const Dwarf_Die& unit, LineTables& tables, PathInterner& paths)
    : unit_(unit), paths_(paths) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  const bool has_table =
      !tables.sections.lines.empty() &&
      dwarf_formudata(dwarf_attr(&unit_, DW_AT_stmt_list, &attribute), &offset) == 0;
  if (has_table && ++tables.units[offset] <= kMostUnitsOfTable)
    program_ = LineProgram::parse(tables.sections, offset, paths_.folder());
  if (program_) {
    ids_.resize(program_->files().size());
  } else if (dwarf_getsrcfiles(&unit_, &files_, &file_count_) != 0) {
    files_ = nullptr;
  }
}

uint32_t UnitLines::file(uint64_t number) {
  if (!program_) {
    if (files_ == nullptr || number >= file_count_) return 0;
    return paths_.intern(dwarf_filesrc(files_, number, nullptr, nullptr));
  }
  if (number >= ids_.size()) return 0;
  std::optional<uint32_t>& id = ids_[number];
  if (!id) id = paths_.intern_copy(program_->files()[number]);
  return *id;
}

uint32_t UnitLines::file_of_declaration(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &number) != 0)
    return 0;
  const bool is_of_unit = attribute.cu == unit_.cu;
  if (!is_of_unit || !program_) return paths_.intern(dwarf_decl_file(die));
  return number == 0 ? 0 : file(number);
}

bool UnitLines::read_rows(const std::vector<AddressRange>& unit_ranges, RangeCollector& collector) {
  if (!dwarf_hasattr(&unit_, DW_AT_stmt_list)) return true;
  std::vector<size_t> open;
  for (const AddressRange& part : unit_ranges) {
    const auto [first, last] = collector.find_overlaps(part.begin, part.end);
    for (size_t i = first; i < last; ++i)
      if (collector.wants_lines(i)) open.push_back(i);
  }
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  if (!program_) return read_rows_by_libdw(open, collector);

  std::vector<AddressRange> ranges;
  for (const size_t index : open) ranges.push_back(collector.wanted()[index]);
  const std::optional<std::vector<RangeRows>> found = program_->run(ranges);
  if (!found) return read_rows_by_libdw(open, collector);
  const auto to_line = [&](const LineRow& row, LinkAddress address) {
    if (row.is_end || row.line == 0) return DebugLine{address, 0, 0, 0, 0};
    return DebugLine{address, file(row.file), row.line, row.column, row.discriminator};
  };
  for (size_t i = 0; i < open.size(); ++i) {
    const RangeRows& rows = (*found)[i];
    if (rows.before) {
      const DebugLine first = to_line(*rows.before, ranges[i].begin);
      // The end of another sequence, far before: this table does not know the range's start.
      if (first.line != 0 || rows.is_last || !rows.rows.empty()) collector.add_line(open[i], first);
    }
    for (const LineRow& row : rows.rows)
      collector.add_line(open[i], to_line(row, LinkAddress(row.address)));
  }
  return true;
}

bool UnitLines::read_rows_by_libdw(const std::vector<size_t>& open, RangeCollector& collector) {
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(&unit_, &lines, &count) != 0) return false;
  for (const size_t index : open) read_range(lines, count, index, collector, paths_);
  return true;
}

}  // namespace culprit
