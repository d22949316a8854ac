#pragma once

// SpinLock: for what takes some tens of nanoseconds and is rarely wanted by two at once: nobody
// is put to sleep for so short a time.

#include <atomic>
#include <sched.h>

namespace culprit::simulate {

/// std::unique_lock and its like hold it.
class SpinLock {
 public:
  void lock() {
    constexpr int kMostTries = 100;
    for (int tries = 1; is_taken_.exchange(true, std::memory_order_acquire); ++tries) {
      // Who has it may have been taken off its CPU.
      if (tries % kMostTries == 0) ::sched_yield();
    }
  }
  void unlock() { is_taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_taken_{false};
};

}  // namespace culprit::simulate
