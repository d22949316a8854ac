#include "daemon/silent_files.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace culprit {

std::string_view find_file_system(std::string_view mountinfo, uint32_t major, uint32_t minor) {
  const std::string device = fmt::format("{}:{}", major, minor);
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    constexpr size_t kDevice = 2;
    if (fields.size() <= kDevice || fields[kDevice] != device) continue;
    // Any number of optional fields ends with a hyphen.
    const auto end = std::find(fields.begin() + kDevice, fields.end(), "-");
    if (end != fields.end() && std::next(end) != fields.end()) return *std::next(end);
  }
  return "";
}

bool needs_server(std::string_view file_system) {
  constexpr std::string_view kServed[] = {"fuse", "nfs", "nfs4", "cifs",
                                          "smb3", "9p",  "ceph", "afs"};
  return file_system.starts_with("fuse.") ||
         std::find(std::begin(kServed), std::end(kServed), file_system) != std::end(kServed);
}

bool may_be_silent(uint32_t pid, uint32_t major, uint32_t minor) {
  if (major != 0) return false;  // a disk's
  const auto mounts = read_file(fmt::format("/proc/{}/mountinfo", pid));
  return mounts && needs_server(find_file_system(*mounts, major, minor));
}

}  // namespace culprit
