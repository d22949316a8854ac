#pragma once

// SignalGuard: the signals that ask for an end while a run is watched: Ctrl-C and Ctrl-\, SIGTERM,
// and SIGHUP, as of a terminal that is closed.

#include <array>
#include <signal.h>
#include <sys/types.h>

#include "base/file.h"
#include "recording/run_control.h"

namespace culprit {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are ours: passed on to the command (unless
/// the terminal has sent it the same), counted, and the former handlers back at the end. SIGHUP and
/// SIGQUIT stay ignored where they were (nohup, a shell's background job). One lives at a time.
class SignalGuard final : public RunControl {
 public:
  SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard() override;

  [[nodiscard]] int descriptor() const override { return event_.get(); }
  /// The second signal means: do not wait for the command.
  RunRequests take() override;
  /// A signal that came before there was a command is passed on now.
  void follow_command(pid_t command) override;

  /// Sets a child's signals, before exec, to what we got. Ignored ones stay ignored.
  static void give_back_in_child();

 private:
  std::array<struct sigaction, 4> old_{};
  Fd event_;
};

/// The signals that ask for an end.
inline constexpr std::array<int, 4> kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

}  // namespace culprit
