#pragma once

// --range: parts of memory that a user gives a name. How they are written, and how the host side
// tells them to the program's process: a file in the folder of counts.
//
//     a                the variable a, of whatever file has one
//     rows=matrix.so:a the variable a of matrix.so, called rows
//     buf=0x5000+4096  4,096 bytes from there on

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::objects {

struct Range {
  std::string name;
  std::string file;    // "": any; else a path, or the end of one
  std::string symbol;  // "": by address
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  friend bool operator==(const Range&, const Range&) = default;

  /// Whether it is a variable of this name in this file.
  [[nodiscard]] bool is_of(std::string_view path, std::string_view variable) const;
};

/// Errors: what is wrong with the text.
Result<Range> parse_range(std::string_view text);

std::string ranges_file_path(const std::string& folder);
Result<void> write_ranges_file(const std::string& path, const std::vector<Range>& ranges);
/// No such file is no range. Errors: not of this kind.
Result<std::vector<Range>> read_ranges_file(const std::string& path);

}  // namespace culprit::objects
