#pragma once

// What the path of a mapping says of it.

#include <string_view>

namespace culprit {

/// Memory without a name in the file system: JIT code, stacks, shared memory.
inline bool is_anonymous_path(std::string_view path) {
  return path.empty() || path.front() != '/' || path.starts_with("//anon") ||
         path.starts_with("/anon_hugepage") || path.starts_with("/dev/zero") ||
         path.starts_with("/SYSV");
}

inline constexpr std::string_view kDeletedSuffix = " (deleted)";

/// The path without the kernel's remark that nothing has this name any more.
inline std::string_view strip_deleted(std::string_view path) {
  if (path.ends_with(kDeletedSuffix)) path.remove_suffix(kDeletedSuffix.size());
  return path;
}

}  // namespace culprit
