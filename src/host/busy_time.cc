#include "host/busy_time.h"

#include <algorithm>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"

namespace culprit {
namespace {

uint64_t used_ns(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return compute_cpu_ns(usage);
}

double minus(uint64_t a, uint64_t b) {
  return a > b ? static_cast<double>(a - b) : 0;
}

}  // namespace

std::optional<BusyTime> parse_busy_time(std::string_view proc_stat, long ticks_per_second) {
  // Linux, Documentation/filesystems/proc.rst: user, nice, system, idle, iowait, irq, softirq,
  // steal, guest, guest_nice; the last two are part of the first two.
  enum Column : size_t { user, nice, system, idle, iowait, irq, softirq, steal, columns };
  if (ticks_per_second <= 0 || !proc_stat.starts_with("cpu ")) return std::nullopt;
  const std::string_view line = proc_stat.substr(4, proc_stat.find('\n') - 4);
  std::vector<uint64_t> ticks;
  for (const std::string_view word : split(line, ' ')) {
    if (word.empty()) continue;
    const std::optional<uint64_t> value = find_number(word, 10);
    if (!value) return std::nullopt;
    ticks.push_back(*value);
  }
  if (ticks.size() < columns) return std::nullopt;
  const uint64_t ns_per_tick = 1'000'000'000 / static_cast<uint64_t>(ticks_per_second);
  BusyTime time;
  time.busy_ns =
      ns_per_tick * (ticks[user] + ticks[nice] + ticks[system] + ticks[irq] + ticks[softirq]);
  time.stolen_ns = ns_per_tick * ticks[steal];
  return time;
}

std::optional<BusyTime> read_busy_time() {
  const Result<std::string> text = read_file("/proc/stat", 1 << 20);
  if (!text) return std::nullopt;
  std::optional<BusyTime> time = parse_busy_time(*text, ::sysconf(_SC_CLK_TCK));
  if (!time) return std::nullopt;
  time->wall_ns = monotonic_ns();
  time->own_ns = used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN);
  return time;
}

Neighbours compute_neighbours(const BusyTime& before, const BusyTime& after) {
  const double wall = minus(after.wall_ns, before.wall_ns);
  if (!(wall > 0)) return {};
  const double own = minus(after.own_ns, before.own_ns);
  const double busy = std::max(0.0, minus(after.busy_ns, before.busy_ns) - own);
  return {busy / wall, minus(after.stolen_ns, before.stolen_ns) / wall};
}

}  // namespace culprit
