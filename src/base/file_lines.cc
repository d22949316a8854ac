#include "base/file_lines.h"

#include "base/number.h"

namespace culprit {
namespace {

/// 0: it is no line.
uint32_t parse_line(std::string_view text) {
  const std::optional<uint64_t> line = find_number(text, 10);
  return line && *line <= UINT32_MAX ? static_cast<uint32_t>(*line) : 0;
}

}  // namespace

std::optional<FileLines> parse_file_lines(std::string_view words) {
  const size_t colon = words.rfind(':');
  const bool is_behind_name =
      colon != std::string_view::npos && colon > 0 && words[colon - 1] != ':';
  if (!is_behind_name) return std::nullopt;
  const std::string_view lines = words.substr(colon + 1);
  const size_t dash = lines.find('-');
  const uint32_t first = parse_line(lines.substr(0, dash));
  const uint32_t last = dash == std::string_view::npos ? first : parse_line(lines.substr(dash + 1));
  if (first == 0 || last < first) return std::nullopt;
  return FileLines{std::string(words.substr(0, colon)), first, last};
}

}  // namespace culprit
