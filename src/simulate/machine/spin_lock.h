#pragma once

// SpinLock: for what takes some tens of nanoseconds, and is rarely wanted by two at once: a mutex
// takes twice the time of such work, and puts to sleep who would not have had to wait.

#include <atomic>
#include <sched.h>

namespace culprit::simulate {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; is_taken_.exchange(true, std::memory_order_acquire); ++tries) {
      // Who has it may have been taken off its CPU.
      constexpr int kMostTries = 100;
      if (tries % kMostTries == kMostTries - 1) ::sched_yield();
    }
  }
  bool try_lock() { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void unlock() { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

}  // namespace culprit::simulate
