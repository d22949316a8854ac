#pragma once

// Ctrl-C and its like, for work that ends early with what is done kept.

#include <array>
#include <csignal>

namespace culprit {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT only leave a mark. One at a time. SIGHUP and
/// SIGQUIT stay ignored where they were.
class InterruptGuard {
 public:
  InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

  [[nodiscard]] bool is_interrupted() const;

 private:
  std::array<struct sigaction, 4> old_{};
};

}  // namespace culprit
