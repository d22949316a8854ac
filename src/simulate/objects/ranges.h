#pragma once

// --range: parts of memory that a user gives a name. How they are written, and how the host side
// tells them to the program's process: a file in the folder of counts.
//
//     a                the variable a, of whatever file has one; else a.1, if no a.2 is there
//     rows=matrix.so:a the variable a of matrix.so, called rows
//     rows=quake.c:31  the blocks that line 31 of quake.c allocates
//     buf=0x5000+4096  4,096 bytes from there on
//
// The environment may have more of them: CULPRIT_RANGE="a;rows=quake.c:31".

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace culprit::objects {

struct Range {
  std::string name;
  std::string file;    // "": any; else a path, or the end of one: of a program, or with a line
  std::string symbol;  // "": by address, or line
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint32_t line = 0;  // of the source file; 0: no place of allocation
  // The code of that line, which the host side finds: from where to where in which program's file.
  std::string program{};
  std::vector<std::pair<uint64_t, uint64_t>> code{};
  friend bool operator==(const Range&, const Range&) = default;

  /// Whether it is a variable of this name in this file.
  [[nodiscard]] bool is_of(std::string_view path, std::string_view variable) const;
  /// Whether it is a variable that the source calls so, "a.1" for "a", in this file.
  [[nodiscard]] bool is_stem_of(std::string_view path, std::string_view variable) const;
  /// Whether its variable may be in this file.
  [[nodiscard]] bool is_in(std::string_view path) const;
  [[nodiscard]] bool is_by_address() const { return symbol.empty() && line == 0; }
};

/// Errors: what is wrong with the text.
Result<Range> parse_range(std::string_view text);
/// Several of them, with semicolons between. Errors: what is wrong with the first that is none.
Result<std::vector<Range>> parse_ranges(std::string_view text);
inline constexpr const char* kRangeVariable = "CULPRIT_RANGE";

std::string ranges_file_path(const std::string& folder);
Result<void> write_ranges_file(const std::string& path, const std::vector<Range>& ranges);
/// No such file is no range. Errors: not of this kind.
Result<std::vector<Range>> read_ranges_file(const std::string& path);

}  // namespace culprit::objects
