#include "base/wait_status.h"

#include <fmt/format.h>
#include <sys/wait.h>

namespace culprit {

std::string describe_wait_status(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("killed by signal {}", WTERMSIG(wait_status));
  return fmt::format("exit status {}", WEXITSTATUS(wait_status));
}

}  // namespace culprit
