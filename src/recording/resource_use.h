#pragma once

// What the kernel says that a command took: by wait4(2), and by /proc/PID/io, which a command that
// has ended keeps until it is waited for. Both are of the command and of the descendants that were
// waited for.

#include <string_view>
#include <sys/resource.h>
#include <sys/types.h>

#include "model/profile.h"

namespace culprit {

/// Adds calls and bytes of /proc/PID/io; lines that are not there add nothing.
void parse_transfers(std::string_view text, ResourceUse& use);

/// Reads them, if the child has ended and nobody has waited for it; else does nothing.
void read_transfers_at_end(pid_t pid, ResourceUse& use);

/// Time in the kernel and page faults.
void add_usage(const rusage& usage, ResourceUse& use);

}  // namespace culprit
