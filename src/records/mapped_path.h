#pragma once

// What the path of a mapping says of it.

#include <string_view>

#include "records/address_spaces.h"
#include "records/record.h"

namespace culprit {

/// Memory without a name in the file system: JIT code, stacks, shared memory.
inline bool is_anonymous_path(std::string_view path) {
  return path.empty() || path.front() != '/' || path.starts_with("//anon") ||
         path.starts_with("/anon_hugepage") || path.starts_with("/dev/zero") ||
         path.starts_with("/SYSV");
}

inline bool is_vdso_path(std::string_view path) {
  return path == "[vdso]";
}

/// What an MMAP record maps, as the address space has it. Its range must not wrap. The kernel
/// gives the mapping of the vdso an offset that means nothing.
inline Mapping make_mapping(const MmapRecord& map, FileKey file) {
  return {map.start, map.start + map.length, is_vdso_path(map.path) ? 0 : map.file_offset, file};
}

inline constexpr std::string_view kDeletedSuffix = " (deleted)";

/// The path without the kernel's remark that nothing has this name any more.
inline std::string_view strip_deleted(std::string_view path) {
  if (path.ends_with(kDeletedSuffix)) path.remove_suffix(kDeletedSuffix.size());
  return path;
}

}  // namespace culprit
