#pragma once

// Idle time of the CPUs of a recording.

#include <cstdint>
#include <optional>
#include <vector>

#include "host/cpu_times.h"
#include "model/idle_time.h"

namespace culprit {

struct IdleSum {
  uint64_t idle_ns = 0;  // since boot
  size_t cpus = 0;
};

/// How long `cpus` were idle, or all that are online if none are named. Nothing, if one of them is
/// not there.
std::optional<IdleSum> sum_idle(const std::vector<CpuTimes>& times, const std::vector<int>& cpus);

/// Measures from its making until it is asked.
class IdleWatch {
 public:
  explicit IdleWatch(std::vector<int> cpus);
  /// The result is none where the kernel does not tell, or CPUs came or went.
  [[nodiscard]] std::optional<IdleTime> measure() const;

 private:
  std::vector<int> cpus_;
  uint64_t start_ns_;
  std::optional<IdleSum> start_;
};

}  // namespace culprit
