#include "host/cpu_times.h"

#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

namespace culprit {
namespace {

// Linux, Documentation/filesystems/proc.rst: user, nice, system, idle, iowait, irq, softirq,
// steal, guest, guest_nice; the last two are part of the first two.
enum Column : size_t { user, nice, system, idle, iowait, irq, softirq, steal, columns };

constexpr uint64_t kMostNs = UINT64_MAX / columns;  // their sum is no more than a number can hold

std::optional<CpuTimes> parse_line(std::string_view line, uint64_t ns_per_tick) {
  CpuTimes times;
  std::vector<uint64_t> ns;
  for (const std::string_view word : split(line, ' ')) {
    if (word.empty()) continue;
    if (word.starts_with("cpu")) {
      if (word.size() == 3) continue;
      const std::optional<uint64_t> number = find_number(word.substr(3), 10);
      if (!number) return std::nullopt;
      times.cpu = static_cast<uint32_t>(*number);
      continue;
    }
    const std::optional<uint64_t> ticks = find_number(word, 10);
    if (!ticks || *ticks > kMostNs / ns_per_tick) return std::nullopt;
    ns.push_back(*ticks * ns_per_tick);
  }
  if (ns.size() < columns) return std::nullopt;
  times.busy_ns = ns[user] + ns[nice] + ns[system] + ns[irq] + ns[softirq];
  times.idle_ns = ns[idle] + ns[iowait];
  times.stolen_ns = ns[steal];
  return times;
}

}  // namespace

std::optional<std::vector<CpuTimes>> parse_cpu_times(std::string_view proc_stat,
                                                     long ticks_per_second) {
  constexpr long kNsPerSecond = 1'000'000'000;
  if (ticks_per_second <= 0 || ticks_per_second > kNsPerSecond) return std::nullopt;
  const auto ns_per_tick = static_cast<uint64_t>(kNsPerSecond / ticks_per_second);
  std::vector<CpuTimes> all;
  for (const std::string_view line : split(proc_stat, '\n')) {
    if (!line.starts_with("cpu")) break;  // they come first
    const std::optional<CpuTimes> times = parse_line(line, ns_per_tick);
    if (!times || times->cpu.has_value() == all.empty()) return std::nullopt;
    all.push_back(*times);
  }
  if (all.empty()) return std::nullopt;
  return all;
}

std::optional<std::vector<CpuTimes>> read_cpu_times() {
  constexpr uint64_t kLargest = 16 << 20;
  const Result<std::string> text = read_file("/proc/stat", kLargest);
  if (!text) return std::nullopt;
  return parse_cpu_times(*text, ::sysconf(_SC_CLK_TCK));
}

}  // namespace culprit
