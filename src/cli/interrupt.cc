#include "cli/interrupt.h"

namespace culprit {

namespace {

constexpr std::array<int, 4> kEndings = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
volatile std::sig_atomic_t interrupt_seen = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_seen = 0;
  struct sigaction action{};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  for (size_t i = 0; i < kEndings.size(); ++i) {
    ::sigaction(kEndings[i], nullptr, &old_[i]);
    const bool may_be_ignored = kEndings[i] == SIGHUP || kEndings[i] == SIGQUIT;
    if (may_be_ignored && old_[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kEndings[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (size_t i = 0; i < kEndings.size(); ++i) ::sigaction(kEndings[i], &old_[i], nullptr);
}

bool InterruptGuard::is_interrupted() const {
  return interrupt_seen != 0;
}

}  // namespace culprit
