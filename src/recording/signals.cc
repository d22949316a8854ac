#include "recording/signals.h"

#include <atomic>
#include <cerrno>

namespace culprit {
namespace {

std::atomic<int> interruption_count = 0;
std::atomic<pid_t> interrupted_command = 0;
std::atomic<const SignalGuard*> living_guard = nullptr;

extern "C" void pass_interruption_on(int signal_number, siginfo_t* info, void*) {
  const int saved_errno = errno;
  ++interruption_count;
  // From a terminal the kernel sends it to the whole group, the command included.
  const bool is_for_us_alone = info->si_code == SI_USER || info->si_code == SI_TKILL;
  const pid_t command = interrupted_command;
  if (is_for_us_alone && command > 0) ::kill(command, signal_number);
  errno = saved_errno;
}

}  // namespace

SignalGuard::SignalGuard() {
  interruption_count = 0;
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

void SignalGuard::pass_on_to(pid_t command) {
  interrupted_command = command;
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
}

int SignalGuard::interruptions() {
  return interruption_count;
}

}  // namespace culprit
