#include "simulate/plugin/guest_maps.h"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace culprit {

uint32_t GuestMaps::find(uint64_t address) {
  auto after = ranges_.upper_bound(address);
  if (after != ranges_.begin()) {
    const auto& [start, range] = *std::prev(after);
    if (address < range.end) return range.mapping;
  }
  uint64_t start = address;
  const Range range = read(address, &start);
  if (range.end <= start) return 0;
  forget(start, range.end - start);
  ranges_[start] = range;
  return range.mapping;
}

/// The line of /proc/self/maps that holds the address; an empty range if none does.
GuestMaps::Range GuestMaps::read(uint64_t address, uint64_t* start) {
  Range found{0, 0};
  FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return found;
  char line[4096 + 128];
  const uint64_t wanted = address + base_;
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long from = 0, to = 0, offset = 0, inode = 0;
    unsigned major = 0, minor = 0;
    int path_at = 0;
    if (std::sscanf(line, "%llx-%llx %*4s %llx %x:%x %llu %n", &from, &to, &offset, &major, &minor,
                    &inode, &path_at) < 6) {
      continue;
    }
    if (wanted < from || wanted >= to) continue;
    *start = from - base_;
    found.end = to - base_;
    const std::string_view path(line + path_at, std::strcspn(line + path_at, "\n"));
    if (inode != 0 && path.starts_with('/')) {
      const counts_file::Mapping mapping{*start, found.end, offset, inode, major, minor, 0, 0};
      found.mapping = writer_.add_mapping(mapping, path);
    }
    break;
  }
  std::fclose(maps);
  return found;
}

void GuestMaps::forget(uint64_t start, uint64_t bytes) {
  const uint64_t end = bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
  auto at = ranges_.lower_bound(start);
  if (at != ranges_.begin() && std::prev(at)->second.end > start) --at;
  while (at != ranges_.end() && at->first < end) at = ranges_.erase(at);
}

}  // namespace culprit
