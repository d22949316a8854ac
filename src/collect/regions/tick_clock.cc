#include "collect/regions/tick_clock.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"

namespace culprit {
namespace {

uint64_t read_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

}  // namespace

bool has_steady_counter() {
#if defined(__x86_64__)
  const std::string source =
      read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("");
  const std::string_view name = trim(source);
  if (name != "tsc" && name != "kvm-clock") return false;
  const std::string cpus = read_file("/proc/cpuinfo").value_or("");
  return cpus.find(" constant_tsc") != std::string::npos &&
         cpus.find(" nonstop_tsc") != std::string::npos;
#else
  return false;
#endif
}

ClockMoment read_both_clocks() {
  ClockMoment best;
  uint64_t shortest_ns = UINT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const uint64_t before_ns = monotonic_ns();
    const uint64_t ticks = read_ticks();
    const uint64_t after_ns = monotonic_ns();
    if (after_ns - before_ns >= shortest_ns) continue;
    shortest_ns = after_ns - before_ns;
    best = {before_ns + shortest_ns / 2, ticks};
  }
  return best;
}

double compute_tick_ns(const ClockMoment& first, const ClockMoment& last) {
  if (last.ticks <= first.ticks || last.monotonic_ns <= first.monotonic_ns) return 1;
  return static_cast<double>(last.monotonic_ns - first.monotonic_ns) /
         static_cast<double>(last.ticks - first.ticks);
}

}  // namespace culprit
