#include "records/proc_text.h"

#include <optional>

#include "base/number.h"
#include "base/text.h"

namespace culprit {

namespace {

/// Everything before the next space, which is consumed with those after it.
std::string_view take_word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

/// The kernel writes a line feed in a path as \012.
std::string undo_escapes(std::string_view path) {
  std::string text;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path.substr(i, 4) == "\\012") {
      text += '\n';
      i += 3;
    } else {
      text += path[i];
    }
  }
  return text;
}

std::optional<ProcMapping> parse_mapping(std::string_view line) {
  const std::string_view range = take_word(line);
  const std::string_view permissions = take_word(line);
  const std::string_view offset = take_word(line);
  const std::string_view device = take_word(line);
  const std::string_view inode = take_word(line);
  const size_t dash = range.find('-');
  const size_t colon = device.find(':');
  if (dash == range.npos || colon == device.npos || permissions.size() < 4) return std::nullopt;
  const auto start = find_number(range.substr(0, dash), 16);
  const auto end = find_number(range.substr(dash + 1), 16);
  const auto file_offset = find_number(offset, 16);
  const auto major = find_number(device.substr(0, colon), 16);
  const auto minor = find_number(device.substr(colon + 1), 16);
  const auto inode_number = find_number(inode, 10);
  if (!start || !end || !file_offset || !major || !minor || !inode_number) return std::nullopt;
  return ProcMapping{RunAddress(*start),
                     RunAddress(*end),
                     permissions[2] == 'x',
                     *file_offset,
                     static_cast<uint32_t>(*major),
                     static_cast<uint32_t>(*minor),
                     *inode_number,
                     undo_escapes(line)};
}

std::optional<ProcModule> parse_module(std::string_view line) {
  const std::string_view name = take_word(line);
  const auto size = find_number(take_word(line), 10);
  take_word(line);  // users
  take_word(line);  // dependents
  take_word(line);  // state
  std::string_view address = take_word(line);
  if (!address.starts_with("0x")) return std::nullopt;
  const auto start = find_number(address.substr(2), 16);
  if (!size || !start) return std::nullopt;
  return ProcModule{std::string(name), *size, RunAddress(*start)};
}

}  // namespace

std::vector<ProcMapping> parse_proc_maps(std::string_view text) {
  std::vector<ProcMapping> mappings;
  for (const std::string_view line : split(text, '\n')) {
    if (auto mapping = parse_mapping(line)) mappings.push_back(*std::move(mapping));
  }
  return mappings;
}

std::vector<ProcModule> parse_proc_modules(std::string_view text) {
  std::vector<ProcModule> modules;
  for (const std::string_view line : split(text, '\n')) {
    if (auto module = parse_module(line)) modules.push_back(*std::move(module));
  }
  return modules;
}

}  // namespace culprit
