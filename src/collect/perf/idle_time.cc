#include "collect/perf/idle_time.h"

#include <algorithm>
#include <string>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"

namespace culprit {
namespace {

std::optional<IdleTicks> read_idle(const std::vector<int>& cpus) {
  const Result<std::string> text = read_file("/proc/stat");
  const long ticks = ::sysconf(_SC_CLK_TCK);
  if (!text || ticks <= 0) return std::nullopt;
  return parse_idle(*text, cpus, static_cast<uint64_t>(ticks));
}

}  // namespace

std::optional<IdleTicks> parse_idle(std::string_view proc_stat, const std::vector<int>& cpus,
                                    uint64_t ticks_per_second) {
  constexpr size_t kIdleField = 4;  // cpu0 user nice system idle iowait ...
  constexpr uint64_t kMostTicks = UINT64_MAX / 1'000'000'000;
  IdleTicks sum;
  for (const std::string_view line : split(proc_stat, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() <= kIdleField + 1 || !fields[0].starts_with("cpu")) continue;
    const auto cpu = find_number(fields[0].substr(3), 10);
    if (!cpu) continue;  // the sum of all
    const bool is_wanted = cpus.empty() || std::any_of(cpus.begin(), cpus.end(), [&](int wanted) {
                             return wanted >= 0 && static_cast<uint64_t>(wanted) == *cpu;
                           });
    if (!is_wanted) continue;
    const auto idle = find_number(fields[kIdleField], 10);
    const auto waiting = find_number(fields[kIdleField + 1], 10);
    if (!idle || !waiting || *idle > kMostTicks / 2 || *waiting > kMostTicks / 2) {
      return std::nullopt;
    }
    sum.idle_ns += (*idle + *waiting) * (1'000'000'000 / ticks_per_second);
    ++sum.cpus;
  }
  if (sum.cpus == 0 || (!cpus.empty() && sum.cpus != cpus.size())) return std::nullopt;
  return sum;
}

IdleWatch::IdleWatch(std::vector<int> cpus)
    : cpus_(std::move(cpus)), start_ns_(read_clock_ns(CLOCK_MONOTONIC)), start_(read_idle(cpus_)) {}

std::optional<IdleTime> IdleWatch::measure() const {
  const std::optional<IdleTicks> end = read_idle(cpus_);
  if (!start_ || !end || end->cpus != start_->cpus || end->idle_ns < start_->idle_ns) {
    return std::nullopt;
  }
  const uint64_t capacity_ns = (read_clock_ns(CLOCK_MONOTONIC) - start_ns_) * end->cpus;
  // The kernel counts in ticks: an idle machine may seem to have been a tick more idle than long.
  return IdleTime{std::min(end->idle_ns - start_->idle_ns, capacity_ns), capacity_ns};
}

}  // namespace culprit
