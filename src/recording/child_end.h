#pragma once

// Waiting for the end of a child.

#include <sys/resource.h>
#include <sys/types.h>

namespace culprit {

/// wait4() until the child has ended, or with WNOHANG whether it has. A child that asks to be
/// traced (PTRACE_TRACEME) makes us its tracer, and stops are then reported as ends are: it is let
/// go, with the signal that it stopped for. True also if there is no such child to wait for.
bool wait_for_end(pid_t pid, int options, int* wait_status, rusage* usage);

}  // namespace culprit
