#include "cli/interrupt.h"

namespace culprit {

namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_seen = 0;
  struct sigaction action{};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  ::sigaction(SIGINT, &action, &old_interrupt_);
  ::sigaction(SIGTERM, &action, &old_terminate_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool InterruptGuard::is_interrupted() const {
  return interrupt_seen != 0;
}

}  // namespace culprit
