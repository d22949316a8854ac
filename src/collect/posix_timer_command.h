#pragma once

// Runs the command with the shim preloaded, and passes Ctrl-C and SIGTERM on to it.

#include <cstdint>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace culprit {

/// The settings of guest/protocol.h, for the environment of the command.
struct ShimSettings {
  std::string shim_path;
  std::string folder;
  uint64_t period_ns = 0;
  bool stacks = false;
};

/// A started command. Descriptors, masks, limits and the terminal are those of our caller.
class ShimmedCommand {
 public:
  /// Started means that exec has succeeded: otherwise the error says why.
  static Result<ShimmedCommand> start(const std::vector<std::string>& command,
                                      const ShimSettings& settings);

  /// The same for a command without the shim, in an environment of the caller's choice.
  static Result<ShimmedCommand> start(const std::vector<std::string>& command,
                                      const std::vector<std::string>& environment);

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits until the command has ended, at most this long; true if it has, and from then on.
  bool wait(int timeout_ms);
  [[nodiscard]] int wait_status() const { return wait_status_; }
  /// CPU time of the command and those of its descendants that were waited for.
  [[nodiscard]] const rusage& usage() const { return usage_; }

 private:
  explicit ShimmedCommand(pid_t pid);
  bool has_ended();

  pid_t pid_;
  Fd pidfd_;
  bool ended_ = false;
  int wait_status_ = 0;
  rusage usage_{};
};

/// While it lives, SIGINT and SIGTERM are ours: passed on to the command (unless the terminal
/// has sent it the same), counted, and the former handlers back at the end.
class SignalGuard {
 public:
  SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard();

  void pass_on_to(pid_t command);

  /// SIGINTs and SIGTERMs so far; the second means: do not wait for the command.
  [[nodiscard]] static int interruptions();

  /// In a child, before exec: the signals as we got them. Ignored ones stay ignored.
  static void give_back_in_child();

 private:
  struct sigaction old_int_;
  struct sigaction old_term_;
};

}  // namespace culprit
