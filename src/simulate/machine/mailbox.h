#pragma once

// Mailbox: what is asked of a core from outside: to give a line up, or to stop writing it without
// asking. Posted at any time, done by the core itself before its next access.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "simulate/machine/tenure.h"

namespace culprit::simulate {

struct Letter {
  enum class Wish : uint8_t {
    give_up,    // another core writes it
    share,      // another core reads it
    leave_all,  // an inclusive shared level lost it
  };
  Wish wish = Wish::give_up;
  uint64_t line = 0;
  Origin by;       // whose access it was
  ByteMask bytes;  // that it touched
};

class Mailbox {
 public:
  [[nodiscard]] bool has_mail() const { return has_mail_.load(std::memory_order_relaxed); }

  void post(const Letter& letter) {
    const std::lock_guard lock(mutex_);
    letters_.push_back(letter);
    has_mail_.store(true, std::memory_order_relaxed);
  }

  /// There is something else to do before the next access (HugePages::changes()).
  void wake() {
    const std::lock_guard lock(mutex_);
    has_mail_.store(true, std::memory_order_relaxed);
  }

  /// Takes all letters, oldest first, in exchange for an empty vector to reuse.
  void take(std::vector<Letter>& letters) {
    letters.clear();
    const std::lock_guard lock(mutex_);
    std::swap(letters, letters_);
    has_mail_.store(false, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> has_mail_{false};
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace culprit::simulate
