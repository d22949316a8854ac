#pragma once

// Ctrl-C, for work that ends early with what is done kept.

#include <csignal>

namespace culprit {

/// While it lives, SIGINT and SIGTERM only leave a mark. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  [[nodiscard]] bool is_interrupted() const;

 private:
  struct sigaction old_interrupt_{};
  struct sigaction old_terminate_{};
};

}  // namespace culprit
