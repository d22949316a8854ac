#pragma once

// The system's clocks. Safe in signal handlers and between fork and exec.

#include <cstdint>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

namespace culprit {

/// CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_THREAD_CPUTIME_ID, ...
/// Units:  -> [ns]
inline uint64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t monotonic_ns() {
  return read_clock_ns(CLOCK_MONOTONIC);
}

inline uint64_t to_ns(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_usec) * 1'000;
}

/// User and kernel time, of who was asked for.
inline uint64_t compute_cpu_ns(const rusage& usage) {
  return to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
}

}  // namespace culprit
