#pragma once

// Runs the command of a recording in an environment of the caller's choice.

#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace culprit {

/// A started command. Descriptors, masks, limits and the terminal are those of our caller.
class StartedCommand {
 public:
  /// Started means that exec has succeeded: otherwise the error says why.
  static Result<StartedCommand> start(const std::vector<std::string>& command,
                                      const std::vector<std::string>& environment);

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits until the command has ended, at most this long; true if it has, and from then on.
  bool wait(int timeout_ms);
  [[nodiscard]] int wait_status() const { return wait_status_; }
  /// CPU time of the command and those of its descendants that were waited for.
  [[nodiscard]] const rusage& usage() const { return usage_; }

 private:
  explicit StartedCommand(pid_t pid);
  bool has_ended();

  pid_t pid_;
  Fd pidfd_;
  bool ended_ = false;
  int wait_status_ = 0;
  rusage usage_{};
};

}  // namespace culprit
