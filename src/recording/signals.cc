#include "recording/signals.h"

#include <atomic>
#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/result.h"

namespace culprit {
namespace {

// A signal handler can find nothing else.
std::atomic<int> interruption_count = 0;
std::atomic<int> last_signal = 0;
std::atomic<pid_t> interrupted_command = 0;
std::atomic<int> woken_event = -1;
std::atomic<const SignalGuard*> living_guard = nullptr;

extern "C" void pass_interruption_on(int signal_number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  ++interruption_count;
  last_signal = signal_number;
  // Where a terminal sends it, the kernel does so to the whole group, the command included.
  const bool is_for_us_alone = info->si_code == SI_USER || info->si_code == SI_TKILL;
  const pid_t command = interrupted_command;
  if (is_for_us_alone && command > 0) ::kill(command, signal_number);
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(woken_event, &one, sizeof one);
  errno = saved_errno;
}

}  // namespace

SignalGuard::SignalGuard() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(living_guard == nullptr);
  interruption_count = 0;
  woken_event = event_.get();
  struct sigaction action{};
  action.sa_sigaction = pass_interruption_on;
  action.sa_flags = SA_SIGINFO;  // no SA_RESTART: waiting ends at once
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    const int signal = kEndingSignals[i];
    ::sigaction(signal, nullptr, &old_[i]);
    const bool may_be_ignored = signal == SIGHUP || signal == SIGQUIT;
    if (may_be_ignored && old_[i].sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
  living_guard = this;
}

RunRequests SignalGuard::take() {
  uint64_t signals = 0;
  [[maybe_unused]] const ssize_t ignored = ::read(event_.get(), &signals, sizeof signals);
  const int count = interruption_count;
  return {count > 1    ? StopRequest::at_once
          : count == 1 ? StopRequest::with_command
                       : StopRequest::none,
          false};
}

void SignalGuard::follow_command(pid_t command) {
  interrupted_command = command;
  if (command > 0 && interruption_count > 0) ::kill(command, last_signal);
}

void SignalGuard::give_back_in_child() {
  const SignalGuard* const guard = living_guard;
  if (guard == nullptr) return;
  for (size_t i = 0; i < kEndingSignals.size(); ++i)
    ::sigaction(kEndingSignals[i], &guard->old_[i], nullptr);
}

SignalGuard::~SignalGuard() {
  living_guard = nullptr;
  for (size_t i = 0; i < kEndingSignals.size(); ++i)
    ::sigaction(kEndingSignals[i], &old_[i], nullptr);
  interrupted_command = 0;
  woken_event = -1;
}

}  // namespace culprit
