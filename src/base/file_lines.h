#pragma once

// FileLines: lines of a source file, as people write them: "quake.c:512", "quake.c:57-63".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace culprit {

struct FileLines {
  std::string file;
  uint32_t first = 0;
  uint32_t last = 0;

  [[nodiscard]] bool hold(uint32_t line) const { return first <= line && line <= last; }
  friend bool operator==(const FileLines&, const FileLines&) = default;
};

/// Nothing: it is something else, as "ns::f", a file alone, or lines from 63 to 57.
std::optional<FileLines> parse_file_lines(std::string_view words);

}  // namespace culprit
