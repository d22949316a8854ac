#include "simulate/counting/known_mappings.h"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace culprit::counting {

std::optional<FoundMapping> find_own_mapping(uint64_t address, uint64_t base) {
  FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return std::nullopt;
  std::optional<FoundMapping> found;
  char line[4096 + 128];
  const uint64_t wanted = address + base;
  while (!found && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long from = 0, to = 0, offset = 0, inode = 0;
    unsigned major = 0, minor = 0;
    int path_at = 0;
    if (std::sscanf(line, "%llx-%llx %*4s %llx %x:%x %llu %n", &from, &to, &offset, &major, &minor,
                    &inode, &path_at) < 6) {
      continue;
    }
    if (wanted < from || wanted >= to) continue;
    found.emplace();
    found->mapping = {from - base, to - base, offset, inode, major, minor, 0, 0};
    const std::string_view path(line + path_at, std::strcspn(line + path_at, "\n"));
    if (inode != 0 && path.starts_with('/')) found->path = path;
  }
  std::fclose(maps);
  return found;
}

uint32_t KnownMappings::find(uint64_t address) {
  auto after = ranges_.upper_bound(address);
  if (after != ranges_.begin()) {
    const auto& [start, range] = *std::prev(after);
    if (address < range.end) return range.mapping;
  }
  const std::optional<FoundMapping> found = finder_ ? finder_(address) : std::nullopt;
  if (!found) return 0;
  const auto& [mapping, path] = *found;
  const Range range{mapping.end, path.empty() ? 0 : writer_.add_mapping(mapping, path)};
  forget(mapping.start, mapping.end - mapping.start);
  ranges_[mapping.start] = range;
  if (listener_ && range.mapping != 0) listener_(range.mapping, *found);
  return range.mapping;
}

void KnownMappings::forget(uint64_t start, uint64_t bytes) {
  const uint64_t end = bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
  auto at = ranges_.lower_bound(start);
  if (at != ranges_.begin() && std::prev(at)->second.end > start) --at;
  while (at != ranges_.end() && at->first < end) at = ranges_.erase(at);
}

}  // namespace culprit::counting
