#pragma once

// futex(2): sleeps while a word has a value.

#include <atomic>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace culprit::counting {

/// May return early. `timeout_ns` 0: none.
inline void futex_wait(const std::atomic<uint32_t>& word, uint32_t value, uint64_t timeout_ns) {
  const timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                         static_cast<long>(timeout_ns % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, timeout_ns == 0 ? nullptr : &timeout,
            nullptr, 0);
}

inline void futex_wake(const std::atomic<uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace culprit::counting
