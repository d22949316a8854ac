#include "host/busy_time.h"

#include <algorithm>
#include <sys/resource.h>
#include <vector>

#include "base/time.h"
#include "host/cpu_times.h"

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

std::optional<BusyTime> read_busy_time() {
  const std::optional<std::vector<CpuTimes>> cpus = read_cpu_times();
  if (!cpus) return std::nullopt;
  BusyTime time;
  time.wall_ns = monotonic_ns();
  time.busy_ns = cpus->front().busy_ns;
  time.stolen_ns = cpus->front().stolen_ns;
  time.own_ns = used_ns(RUSAGE_SELF) + used_ns(RUSAGE_CHILDREN);
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
