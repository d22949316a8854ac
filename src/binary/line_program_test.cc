// The rows of this very program's line tables, beside those that libdw reads of them.

#include "binary/line_program.h"

#include <algorithm>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "binary/elf_file.h"

namespace culprit {
namespace {

using Row = std::tuple<uint64_t, std::string, int, int, unsigned, bool>;

uint64_t address_of(const Row& row) {
  return std::get<0>(row);
}

std::string path_of(const std::string& path, const std::string& folder) {
  const bool is_relative = !path.empty() && path.front() != '/' && !folder.empty();
  return is_relative ? folder + '/' + path : path;
}

Row row_of(Dwarf_Line* line, const std::string& folder) {
  Dwarf_Addr address = 0;
  int number = 0;
  int column = 0;
  unsigned discriminator = 0;
  bool is_end = false;
  dwarf_lineaddr(line, &address);
  dwarf_lineno(line, &number);
  dwarf_linecol(line, &column);
  dwarf_linediscriminator(line, &discriminator);
  dwarf_lineendsequence(line, &is_end);
  const char* const file = dwarf_linesrc(line, nullptr, nullptr);
  return {address, path_of(file == nullptr ? "" : file, folder), number, column, discriminator,
          is_end};
}

Row row_of(const LineRow& row, const LineProgram& program, const std::string& folder) {
  const std::string file = row.file < program.files().size() ? program.files()[row.file] : "";
  return {row.address,
          path_of(file, folder),
          static_cast<int>(row.line),
          static_cast<int>(row.column),
          row.discriminator,
          row.is_end};
}

/// Every fourth stretch of 96 bytes of the table, and one far behind its end.
std::vector<AddressRange> choose_ranges(const std::vector<Row>& rows) {
  std::vector<AddressRange> ranges;
  const uint64_t first = std::get<0>(rows.front());
  const uint64_t last = std::get<0>(rows.back());
  const uint64_t step = std::max<uint64_t>(96 * 4, (last - first) / 1000);
  for (uint64_t at = first; at < last; at += step)
    ranges.push_back({LinkAddress(at), LinkAddress(at + 96)});
  ranges.push_back({LinkAddress(last + 0x10000), LinkAddress(last + 0x10010)});
  return ranges;
}

size_t compare(const LineProgram& program, const std::vector<Row>& rows,
               const std::string& folder) {
  const std::vector<AddressRange> ranges = choose_ranges(rows);
  const auto found = program.run(ranges);
  EXPECT_TRUE(found);
  if (!found) return 0;
  size_t compared = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto first = std::ranges::upper_bound(rows, ranges[i].begin.value, {}, address_of);
    const auto last = std::ranges::lower_bound(rows, ranges[i].end.value, {}, address_of);
    const std::vector<Row> want(first, last);
    const RangeRows& got_rows = (*found)[i];
    std::vector<Row> got;
    for (const LineRow& row : got_rows.rows) got.push_back(row_of(row, program, folder));
    EXPECT_EQ(got, want) << std::hex << ranges[i].begin.value;
    EXPECT_EQ(got_rows.before.has_value(), first != rows.begin());
    if (got_rows.before && first != rows.begin()) {
      EXPECT_EQ(row_of(*got_rows.before, program, folder), *std::prev(first));
    }
    EXPECT_EQ(got_rows.is_last, std::get<0>(rows.back()) <= ranges[i].begin.value);
    compared += want.size();
  }
  return compared;
}

TEST(LineProgram, RowsAreThoseOfLibdw) {
  const Result<std::string> bytes = read_file("/proc/self/exe");
  ASSERT_TRUE(bytes);
  Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(*bytes)));
  ASSERT_TRUE(elf);
  if (!elf->section(".debug_line")) GTEST_SKIP() << "this program has no line tables";
  Dwarf* const dwarf = dwarf_begin_elf(elf->handle(), DWARF_C_READ, nullptr);
  ASSERT_NE(dwarf, nullptr);
  const auto section = [&](std::string_view name) {
    return elf->section(name).value_or(std::span<const std::byte>());
  };
  const LineSections sections{section(".debug_line"), section(".debug_line_str"),
                              section(".debug_str")};
  size_t compared = 0;
  size_t units = 0;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die die{};
  while (dwarf_get_units(dwarf, cu, &cu, nullptr, nullptr, &die, nullptr) == 0) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    Dwarf_Attribute attribute;
    Dwarf_Word offset = 0;
    if (dwarf_formudata(dwarf_attr(&die, DW_AT_stmt_list, &attribute), &offset) != 0) continue;
    if (dwarf_getsrclines(&die, &lines, &count) != 0 || count == 0) continue;
    const char* const text = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attribute));
    const std::string folder = text == nullptr ? "" : text;
    std::vector<Row> rows;
    for (size_t i = 0; i < count; ++i) rows.push_back(row_of(dwarf_onesrcline(lines, i), folder));
    const auto program = LineProgram::parse(sections, offset, folder);
    ASSERT_TRUE(program) << offset;
    compared += compare(*program, rows, folder);
    if (++units == 40) break;  // as many take a moment
  }
  dwarf_end(dwarf);
  EXPECT_GT(compared, 1000u);
}

// ---- Bytes laid out by hand: version 4, one file, 5 rows. ----

std::string small_program() {
  const std::string header(
      "\x01\x01\x01\xfb\x0e\x0d"                          // least 1, 1 at once, is_stmt, -5, 14, 13
      "\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01"  // operands of 1 to 12
      "inc\x00\x00"
      "a.c\x00\x01\x00\x00\x00",
      6 + 12 + 5 + 8);
  const std::string code(
      "\x00\x09\x02\x00\x10\x00\x00\x00\x00\x00\x00"  // address 0x1000
      "\x13"                                          // +0, line 1 + 1
      "\x83"                                          // (0x83 - 13) = 8 x 14 + 6: +8, +1
      "\x05\x07\x83"                                  // column 7; +8, +1
      "\x02\x10\x00\x01\x01",                         // +16: the end
      11 + 1 + 1 + 3 + 5);
  const auto word = [](uint32_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::string rest =
      std::string("\x04\x00", 2) + word(static_cast<uint32_t>(header.size())) + header + code;
  return word(static_cast<uint32_t>(rest.size())) + rest;
}

LineSections sections_of(const std::string& lines) {
  return {std::as_bytes(std::span(lines)), {}, {}};
}

TEST(LineProgram, ReadsOneLaidOutByHand) {
  const std::string bytes = small_program();
  const auto program = LineProgram::parse(sections_of(bytes), 0, "/src");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->files(), (std::vector<std::string>{"/src/???", "inc/a.c"}));
  const auto found = program->run(
      {{LinkAddress(0x1004), LinkAddress(0x1009)}, {LinkAddress(0x1018), LinkAddress(0x1030)}});
  ASSERT_TRUE(found);
  ASSERT_TRUE((*found)[0].before);
  EXPECT_EQ((*found)[0].before->line, 2u);
  ASSERT_EQ((*found)[0].rows.size(), 1u);
  EXPECT_EQ((*found)[0].rows[0].line, 3u);
  ASSERT_TRUE((*found)[1].before);
  EXPECT_EQ((*found)[1].before->column, 7u);
  ASSERT_EQ((*found)[1].rows.size(), 1u);
  EXPECT_TRUE((*found)[1].rows[0].is_end);
  EXPECT_FALSE((*found)[1].is_last);
}

TEST(LineProgram, CutAnywhereItIsRefusedOrShorter) {
  const std::string whole = small_program();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_FALSE(LineProgram::parse(sections_of(cut), 0, "/src")) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\x00', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = value;
      const auto program = LineProgram::parse(sections_of(damaged), 0, "/src");
      if (program) (void)program->run({{LinkAddress(0x1004), LinkAddress(0x1009)}});
    }
  }
}

}  // namespace
}  // namespace culprit
