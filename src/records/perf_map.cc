#include "records/perf_map.h"

#include <optional>

#include "base/number.h"

namespace culprit {

namespace {

std::string_view without_prefix(std::string_view number) {
  return number.starts_with("0x") ? number.substr(2) : number;
}

std::optional<PerfMapEntry> parse_line(std::string_view line) {
  const size_t first = line.find(' ');
  if (first == line.npos) return std::nullopt;
  const size_t second = line.find(' ', first + 1);
  if (second == line.npos || second + 1 >= line.size()) return std::nullopt;
  const auto start = find_number(without_prefix(line.substr(0, first)), 16);
  const auto size = find_number(without_prefix(line.substr(first + 1, second - first - 1)), 16);
  if (!start || !size || *size == 0 || *size > UINT64_MAX - *start) return std::nullopt;
  return PerfMapEntry{RunAddress(*start), *size, std::string(line.substr(second + 1))};
}

}  // namespace

std::vector<PerfMapEntry> parse_perf_map(std::string_view text, size_t& consumed) {
  std::vector<PerfMapEntry> entries;
  consumed = 0;
  while (true) {
    const size_t end = text.find('\n', consumed);
    if (end == text.npos) return entries;
    if (auto entry = parse_line(text.substr(consumed, end - consumed))) {
      entries.push_back(*std::move(entry));
    }
    consumed = end + 1;
  }
}

}  // namespace culprit
