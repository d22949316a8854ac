#pragma once

// What each CPU did since the machine started, by the kernel's own accounting (/proc/stat).

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace culprit {

struct CpuTimes {
  std::optional<uint32_t> cpu;  // none: the sum of all that are online
  uint64_t busy_ns = 0;         // it worked, for whoever
  uint64_t idle_ns = 0;         // it had nothing to do, or waited for disks
  uint64_t stolen_ns = 0;       // a hypervisor let others have it
};

/// The lines "cpu" of /proc/stat, the sum of all first. Nothing, if one of them cannot be read.
/// Units:  ticks of the kernel, `ticks_per_second` (sysconf(_SC_CLK_TCK)) -> [ns]
/// Errors: to a tick (10 ms) of each
std::optional<std::vector<CpuTimes>> parse_cpu_times(std::string_view proc_stat,
                                                     long ticks_per_second);

/// Nothing, where /proc is not there.
std::optional<std::vector<CpuTimes>> read_cpu_times();

}  // namespace culprit
