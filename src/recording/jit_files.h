#pragma once

// Opens files that a profiled process wrote, as it sees them: in its own mount
// namespace, even after its death. /tmp is everybody's: a file there is taken only if the
// process's user or root made it, it is a regular one, and not everybody may write it.

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

#include "base/file.h"

namespace culprit {

/// The root directory of a process, kept open: it outlives the process.
Fd open_process_root(uint32_t pid);

/// The process's number in its own pid namespace; `pid` itself if that is unknown.
uint32_t read_pid_inside(uint32_t pid);

/// The user who runs a process, by whose rights it makes files; nullopt if it is gone.
std::optional<uid_t> read_user(uint32_t pid);

enum class Trust : uint8_t { absent, refused, good };

struct JitFile {
  Fd fd;  // if it is good
  Trust trust = Trust::absent;
};

/// `path` (absolute) below `root`, or in our own namespace if there is no root. Refused: not a
/// regular file, of another owner than `user` or root (`user` unknown: than us or root), or
/// everybody may write it.
JitFile open_in_root(const Fd& root, const std::string& path, std::optional<uid_t> user);

/// Bytes from `offset` on, at most `limit_bytes`.
std::string read_from(const Fd& fd, uint64_t offset, uint64_t limit_bytes);

}  // namespace culprit
