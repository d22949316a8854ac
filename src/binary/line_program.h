#pragma once

// Internal to `binary`: the line table of one unit, straight from .debug_line.
//
// libdw makes an object of each row of a unit and sorts them all; what is asked for is a few
// functions of it. Here the program runs once and keeps the rows of wanted ranges:
//
//   rows     ···o··o·o···o··│o··o·o··│···o··o··E
//                        ↑  └─ wanted ┘
//                        the last one before: it holds where the range begins
//
// Rows are as libdw has them (dwarf_getsrclines): by address, then ends of sequences first, then
// as they come in the program; the last of all counts as an end. Forms that are rare here make
// parse() find nothing, and whoever asks falls back on libdw.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "binary/debug_facts.h"

namespace culprit {

/// Sections of one file, inflated.
struct LineSections {
  std::span<const std::byte> lines;         // .debug_line
  std::span<const std::byte> line_strings;  // .debug_line_str
  std::span<const std::byte> strings;       // .debug_str
};

struct LineRow {
  uint64_t address = 0;
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t discriminator = 0;
  bool is_end = false;
};

/// The rows of one wanted range, by address.
struct RangeRows {
  std::optional<LineRow> before;  // the last one at or before its begin
  std::vector<LineRow> rows;      // those inside, behind the begin
  bool is_last = true;            // no row of the table is behind the begin
};

class LineProgram {
 public:
  /// The program at `offset`, of a unit compiled in `folder`. nullopt: damaged, or rare.
  static std::optional<LineProgram> parse(const LineSections& sections, uint64_t offset,
                                          std::string_view folder);

  /// Files by their numbers in rows and DIEs, relative to the unit's folder if not absolute.
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

  /// Runs it; `ranges` ascending, disjoint. nullopt: damaged, or rare.
  [[nodiscard]] std::optional<std::vector<RangeRows>> run(
      const std::vector<AddressRange>& ranges) const;

 private:
  std::span<const std::byte> code_;
  std::vector<uint8_t> operands_;  // of each standard opcode
  uint8_t address_bytes_ = 8;
  uint8_t least_instruction_ = 1;
  int8_t line_base_ = 0;
  uint8_t line_range_ = 1;
  uint8_t opcode_base_ = 1;
  std::vector<std::string> files_;
};

}  // namespace culprit
