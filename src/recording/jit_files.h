#pragma once

// Opens files that a profiled process wrote, as it sees them: in its own mount
// namespace, even after its death. They are taken only if they are regular files
// that not everybody may write.

#include <cstdint>
#include <string>
#include <sys/types.h>

#include "base/file.h"

namespace culprit {

/// The root directory of a process, kept open: it outlives the process.
Fd open_process_root(uint32_t pid);

/// The process's number in its own pid namespace; `pid` itself if that is unknown.
uint32_t read_pid_inside(uint32_t pid);

/// `path` (absolute) below `root`, or in our own namespace if there is no root. Empty if
/// absent or not trustworthy.
Fd open_in_root(const Fd& root, const std::string& path);

/// Bytes from `offset` on, at most `limit_bytes`.
std::string read_from(const Fd& fd, uint64_t offset, uint64_t limit_bytes);

}  // namespace culprit
