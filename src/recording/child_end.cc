#include "recording/child_end.h"

#include <cerrno>
#include <csignal>
#include <sys/ptrace.h>
#include <sys/wait.h>

namespace culprit {

bool wait_for_end(pid_t pid, int options, int* wait_status, rusage* usage) {
  while (true) {
    int status = 0;
    const pid_t waited = ::wait4(pid, &status, options, usage);
    if (waited < 0 && errno == EINTR) continue;
    if (waited == 0) return false;
    if (waited == pid && WIFSTOPPED(status)) {
      // A traced program gets SIGTRAP when it execs, which nobody but a tracer expects.
      const long signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
      ::ptrace(PTRACE_DETACH, pid, nullptr, signal);
      continue;
    }
    if (waited == pid) *wait_status = status;
    return true;
  }
}

}  // namespace culprit
