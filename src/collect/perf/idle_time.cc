#include "collect/perf/idle_time.h"

#include <algorithm>
#include <utility>

#include "base/time.h"

namespace culprit {
namespace {

std::optional<IdleSum> read_idle(const std::vector<int>& cpus) {
  const std::optional<std::vector<CpuTimes>> times = read_cpu_times();
  return times ? sum_idle(*times, cpus) : std::nullopt;
}

}  // namespace

std::optional<IdleSum> sum_idle(const std::vector<CpuTimes>& times, const std::vector<int>& cpus) {
  IdleSum sum;
  for (const CpuTimes& one : times) {
    if (!one.cpu) continue;
    const bool is_wanted = cpus.empty() || std::find(cpus.begin(), cpus.end(),
                                                     static_cast<int>(*one.cpu)) != cpus.end();
    if (!is_wanted) continue;
    sum.idle_ns += one.idle_ns;
    ++sum.cpus;
  }
  if (sum.cpus == 0 || (!cpus.empty() && sum.cpus != cpus.size())) return std::nullopt;
  return sum;
}

IdleWatch::IdleWatch(std::vector<int> cpus)
    : cpus_(std::move(cpus)), start_ns_(read_clock_ns(CLOCK_MONOTONIC)), start_(read_idle(cpus_)) {}

std::optional<IdleTime> IdleWatch::measure() const {
  const std::optional<IdleSum> end = read_idle(cpus_);
  if (!start_ || !end || end->cpus != start_->cpus || end->idle_ns < start_->idle_ns) {
    return std::nullopt;
  }
  const uint64_t capacity_ns = (read_clock_ns(CLOCK_MONOTONIC) - start_ns_) * end->cpus;
  // The kernel counts in ticks: an idle machine may seem to have been a tick more idle than long.
  return IdleTime{std::min(end->idle_ns - start_->idle_ns, capacity_ns), capacity_ns};
}

}  // namespace culprit
