#include "collect/perf_events.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

namespace culprit {

namespace {

// What an unprivileged user may lock for each CPU (perf_event_mlock_kb is 516). A second of
// samples at 4 kHz, or of full stacks at 500 Hz.
constexpr size_t kRingBytes = 512 * 1024;
// Samples with stack copies are large: room for half a second of them, where permitted.
constexpr size_t kLargestRingBytes = 16 * 1024 * 1024;
constexpr size_t kSmallestRingBytes = 16 * 1024;

size_t compute_ring_bytes(const ClockEvent& event) {
  if (event.stack_copy_bytes == 0) return kRingBytes;
  const uint64_t samples = 500'000'000 / std::max<uint64_t>(event.period_ns, 1);
  const uint64_t bytes = std::min<uint64_t>(samples * event.stack_copy_bytes, kLargestRingBytes);
  return std::bit_ceil(std::max<size_t>(bytes, kRingBytes));
}

uint64_t random_below(uint64_t limit) {
  uint64_t number = 0;
  if (limit == 0 || ::getrandom(&number, sizeof number, 0) != sizeof number) return 0;
  return number % limit;
}

uint64_t read_monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void sleep_until(uint64_t monotonic_ns) {
  const timespec at{static_cast<time_t>(monotonic_ns / 1'000'000'000),
                    static_cast<long>(monotonic_ns % 1'000'000'000)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

}  // namespace

/// The events while they are being opened.
struct PerfEvents::Opening {
  const EventTargets& targets;
  const ClockEvent& event;
  PerfEvents& events;
  OpenFailure& failure;

  bool fail(const char* what, int error_number) const {
    failure.error_number = error_number;
    failure.error = errno_error(what, error_number);
    return false;
  }

  /// Opens with what the kernel knows of our features. What it does not know is shed for all.
  Fd open_shedding(bool is_clock, pid_t pid, int cpu, unsigned long flags) const {
    while (true) {
      const perf_event_attr attr = is_clock ? make_clock_attr(event, events.features_)
                                            : make_sideband_attr(event, events.features_);
      Fd fd = open_perf_event(attr, pid, cpu, flags);
      const bool is_unknown = !fd && (errno == EINVAL || errno == E2BIG);
      if (fd) events.layout_ = make_layout(attr);
      if (!is_unknown || !events.features_.shed()) return fd;
    }
  }

  bool map_ring(int fd) const {
    int reason = 0;
    for (size_t bytes = compute_ring_bytes(event); bytes >= kSmallestRingBytes; bytes /= 2) {
      if (Result<Ring> ring = Ring::map(fd, bytes)) {
        events.rings_.push_back(*std::move(ring));
        events.wakeups_.push_back(fd);
        return true;
      }
      reason = errno;
    }
    return fail("cannot map the event ring (perf_event_mlock_kb)", reason);
  }

  /// The first event of a CPU has the ring; all others of that CPU write into it.
  bool join(const Fd& fd, int& ring_owner) const {
    if (ring_owner < 0) {
      ring_owner = fd.get();
      return map_ring(fd.get());
    }
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, ring_owner) == 0) return true;
    return fail("cannot join event rings", errno);
  }

  bool add(bool is_clock, pid_t pid, int cpu, unsigned long flags, int& ring_owner) const {
    Fd fd = open_shedding(is_clock, pid, cpu, flags);
    if (!fd) return fail("cannot sample cpu-clock (perf_event_open)", errno);
    if (!join(fd, ring_owner)) return false;
    (is_clock ? events.clocks_ : events.sideband_).push_back(std::move(fd));
    return true;
  }

  bool open_cpu(int cpu) const {
    int ring_owner = -1;
    if (targets.per_cpu) {
      const bool is_cgroup = targets.cgroup >= 0;
      return add(false, -1, cpu, 0, ring_owner) &&
             add(true, is_cgroup ? targets.cgroup : -1, cpu, is_cgroup ? PERF_FLAG_PID_CGROUP : 0,
                 ring_owner);
    }
    for (const pid_t tid : targets.tids) {
      if (targets.delayed && !add(false, tid, cpu, 0, ring_owner)) return false;
      // A thread may have ended since it was listed.
      if (!add(true, tid, cpu, 0, ring_owner) && failure.error_number != ESRCH) return false;
    }
    return ring_owner >= 0;
  }
};

std::optional<PerfEvents> PerfEvents::open(const EventTargets& targets, ClockEvent event,
                                           OpenFailure& failure) {
  PerfEvents events;
  event.per_cpu = targets.per_cpu;
  event.carries_sideband = !targets.per_cpu && !targets.delayed;
  event.wakeup_bytes = kRingBytes / 2;
  events.period_ns_ = event.period_ns;
  events.is_per_cpu_ = targets.per_cpu;
  const Opening opening{targets, event, events, failure};
  for (const int cpu : targets.cpus) {
    if (opening.open_cpu(cpu)) continue;
    // A CPU that has gone offline is not needed, if there are others.
    if (failure.error_number == ENODEV) continue;
    return std::nullopt;
  }
  if (events.rings_.empty()) return std::nullopt;
  return events;
}

void PerfEvents::start_sideband() {
  for (const Fd& fd : sideband_) ::ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0);
}

void PerfEvents::start_clock() {
  // The first sample comes a whole period after the start of an event. The program begins at
  // the end of the window, so that comes at any time within its first period. (Events of a
  // task run only with it: there the child spins, see perf_command.h.)
  constexpr uint64_t kLongestWindowNs = 20'000'000;
  const uint64_t window_ns = is_per_cpu_ ? std::min(period_ns_, kLongestWindowNs) : 0;
  std::vector<std::pair<uint64_t, int>> starts;
  for (const Fd& fd : clocks_) starts.emplace_back(random_below(window_ns), fd.get());
  std::sort(starts.begin(), starts.end());
  const uint64_t begin_ns = read_monotonic_ns();
  for (const auto& [wait_ns, fd] : starts) {
    if (wait_ns != 0) sleep_until(begin_ns + wait_ns);
    ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  }
  if (window_ns != 0) sleep_until(begin_ns + window_ns);
}

void PerfEvents::stop() {
  for (const Fd& fd : clocks_) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  for (const Fd& fd : sideband_) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::optional<uint64_t> PerfEvents::read_lost_samples() const {
  // Of inherited events it tells only what the first task lost.
  if (!features_.lost_counts || !is_per_cpu_) return std::nullopt;
  uint64_t lost = 0;
  for (const Fd& fd : clocks_) {
    uint64_t values[2] = {};  // value, lost
    if (::read(fd.get(), values, sizeof values) == sizeof values) lost += values[1];
  }
  return lost;
}

}  // namespace culprit
