#pragma once

// SignalGuard: what asks for an end while a command is watched: Ctrl-C and Ctrl-\, SIGTERM, and
// SIGHUP, as of a terminal that is closed.

#include <array>
#include <signal.h>
#include <sys/types.h>

namespace culprit {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are ours: passed on to the command (unless
/// the terminal has sent it the same), counted, and the former handlers back at the end. SIGHUP and
/// SIGQUIT stay ignored where they were (nohup, a shell's background job).
class SignalGuard {
 public:
  SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard();

  void pass_on_to(pid_t command);

  /// How many so far; the second means: do not wait for the command.
  [[nodiscard]] static int interruptions();

  /// In a child, before exec: the signals as we got them. Ignored ones stay ignored.
  static void give_back_in_child();

 private:
  std::array<struct sigaction, 4> old_{};
};

/// The signals that ask for an end.
inline constexpr std::array<int, 4> kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

}  // namespace culprit
