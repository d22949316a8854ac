#pragma once

// SignalGuard: Ctrl-C and SIGTERM while a command is watched.

#include <signal.h>
#include <sys/types.h>

namespace culprit {

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
