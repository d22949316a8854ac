#pragma once

// Idle time of CPUs, by the kernel's own accounting (/proc/stat).

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/idle_time.h"

namespace culprit {

struct IdleTicks {
  uint64_t idle_ns = 0;  // since boot, waiting for disks included
  size_t cpus = 0;
};

/// Reads how long `cpus` were idle, or all that are online if there are none. `ticks_per_second` is
/// sysconf(_SC_CLK_TCK). The result is none if the text lacks one of them.
std::optional<IdleTicks> parse_idle(std::string_view proc_stat, const std::vector<int>& cpus,
                                    uint64_t ticks_per_second);

/// Measures from its making until it is asked.
class IdleWatch {
 public:
  explicit IdleWatch(std::vector<int> cpus);
  /// The result is none where the kernel does not tell, or CPUs came or went.
  [[nodiscard]] std::optional<IdleTime> measure() const;

 private:
  std::vector<int> cpus_;
  uint64_t start_ns_;
  std::optional<IdleTicks> start_;
};

}  // namespace culprit
