#pragma once

// Files that the daemon does not touch. A file system in user space, or one of the network, may
// leave whoever opens a file of it waiting for ever; for the daemon that would be the end.
//
//     /proc/PID/mountinfo:  36 25 0:31 / /mnt rw shared:1 - fuse.sshfs host:/ rw   ← device 0:31

#include <cstdint>
#include <string_view>

namespace culprit {

/// The kind of the file system of a device, by the text of a mountinfo file; "": it is not mounted.
std::string_view find_file_system(std::string_view mountinfo, uint32_t major, uint32_t minor);

/// Whether its server may not answer: "fuse", "fuse.sshfs", "nfs4", ...
bool needs_server(std::string_view file_system);

/// Whether files of the device, as a process has it mounted, may leave a reader waiting.
bool may_be_silent(uint32_t pid, uint32_t major, uint32_t minor);

}  // namespace culprit
