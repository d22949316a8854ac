#include "collect/perf/perf_events.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fmt/format.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "collect/perf/event_refusal.h"
#include "collect/perf/ring_size.h"

namespace culprit {

namespace {

constexpr size_t kSmallestRingBytes = 16 * 1024;

uint64_t random_below(uint64_t limit) {
  uint64_t number = 0;
  if (limit == 0 || ::getrandom(&number, sizeof number, 0) != sizeof number) return 0;
  return number % limit;
}

void sleep_until(uint64_t end_ns) {
  const timespec at{static_cast<time_t>(end_ns / 1'000'000'000),
                    static_cast<long>(end_ns % 1'000'000'000)};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

}  // namespace

/// The events while they are being opened.
struct PerfEvents::Opening {
  const EventTargets& targets;
  const SamplingSetup& setup;
  PerfEvents& events;
  OpenFailure& failure;

  bool fail(Error error, int error_number) const {
    failure = {error_number, std::move(error)};
    return false;
  }

  /// Opens with what the kernel knows of our features. What it does not know is shed for all.
  template <class MakeAttr>
  Fd open_shedding(MakeAttr make_attr, pid_t pid, int cpu, unsigned long flags,
                   int group_fd) const {
    while (true) {
      Fd fd = open_perf_event(make_attr(), pid, cpu, flags, group_fd);
      const bool is_unknown = !fd && (errno == EINVAL || errno == E2BIG);
      if (!is_unknown) return fd;
      const int reason = errno;
      PerfFeatures fewer = events.features_;
      if (!fewer.shed()) {
        errno = reason;
        return fd;
      }
      events.features_ = fewer;
    }
  }

  bool map_ring(int fd) const {
    int reason = 0;
    for (size_t bytes = compute_ring_bytes(setup, events.groups_, targets.cpus.size());
         bytes >= kSmallestRingBytes; bytes /= 2) {
      if (Result<Ring> ring = Ring::map(fd, bytes)) {
        events.rings_.push_back(*std::move(ring));
        events.wakeups_.push_back(fd);
        return true;
      }
      reason = errno;
    }
    return fail(errno_error("cannot map the event ring (perf_event_mlock_kb)", reason), reason);
  }

  /// The first event of a CPU has the ring; all others of that CPU write into it.
  bool join(const Fd& fd, int& ring_owner) const {
    if (ring_owner < 0) {
      ring_owner = fd.get();
      return map_ring(fd.get());
    }
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, ring_owner) == 0) return true;
    return fail(errno_error("cannot join event rings", errno), errno);
  }

  [[nodiscard]] Error explain_no_sideband(int reason) const {
    EventRequest mappings;
    mappings.type = PERF_TYPE_SOFTWARE;
    mappings.name = "mappings";
    mappings.exclude_kernel = true;
    return explain_refusal(mappings,
                           {reason, targets.per_cpu, false, "follow", targets.cgroup >= 0});
  }

  bool add_sideband(pid_t pid, int cpu, int& ring_owner) const {
    Fd fd =
        open_shedding([&] { return make_sideband_attr(setup, events.features_); }, pid, cpu, 0, -1);
    if (const int reason = errno; !fd) return fail(explain_no_sideband(reason), reason);
    if (!join(fd, ring_owner)) return false;
    events.sideband_.push_back(std::move(fd));
    return true;
  }

  /// An event with the highest precision up to what was asked for; less is said aloud.
  Fd open_precisely(SampledEvent& event, pid_t pid, int cpu, unsigned long flags, int group_fd,
                    bool carries_sideband) const {
    while (true) {
      perf_event_attr attr{};
      Fd fd = open_shedding(
          [&] {
            attr =
                make_sampling_attr(event, setup, events.features_, group_fd < 0, carries_sideband);
            return attr;
          },
          pid, cpu, flags, group_fd);
      if (fd) events.layout_ = make_layout(attr);
      const bool may_be_precision = errno == EOPNOTSUPP || errno == EINVAL || errno == ENOENT;
      if (fd || !may_be_precision || event.request.precise_level == 0) return fd;
      --event.request.precise_level;
      events.features_ = PerfFeatures();  // they were not to blame
    }
  }

  void note_precision(const SampledEvent& event, uint8_t wanted) const {
    if (event.request.precise_level == wanted || event.request.precise_max) return;
    events.remarks_.push_back(fmt::format(
        "{}: sampled with precise level {}, not {}: this machine has no better; samples may "
        "skid to later instructions",
        event.request.name, event.request.precise_level, wanted));
  }

  bool add_group(size_t first_event, SampledGroup& group, pid_t pid, int cpu, unsigned long flags,
                 bool carries_sideband, int& ring_owner) const {
    int leader = -1;
    for (size_t member = 0; member < group.size(); ++member) {
      SampledEvent& event = group[member];
      if (event.request.is_absent) {
        return fail(explain_refusal(event.request, {ENOENT, setup.per_cpu, leader >= 0, "sample"}),
                    ENOENT);
      }
      const uint8_t wanted = event.request.precise_level;
      Fd fd = open_precisely(event, pid, cpu, flags, leader, carries_sideband && member == 0);
      if (!fd) {
        const int reason = errno;
        if (setup.branches && reason == EOPNOTSUPP) {
          return fail(Error{fmt::format("cannot sample '{}' with branches (-b): this machine keeps "
                                        "no record of them, or not for this event",
                                        event.request.name)},
                      reason);
        }
        return fail(explain_refusal(event.request, {reason, setup.per_cpu, leader >= 0, "sample",
                                                    targets.cgroup >= 0}),
                    reason);
      }
      note_precision(event, wanted);
      if (!join(fd, ring_owner)) return false;
      uint64_t id = 0;
      if (setup.many_events && ::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) == 0) {
        events.event_of_id_[id] = first_event + member;
      }
      const int raw_fd = fd.get();
      events.samplers_.push_back({std::move(fd), first_event + member, leader < 0,
                                  is_clock(event.request) ? event.period : 0});
      if (leader < 0) leader = raw_fd;
    }
    return true;
  }

  bool add_groups(pid_t pid, int cpu, unsigned long flags, bool carries_sideband,
                  int& ring_owner) const {
    size_t first_event = 0;
    bool is_first = true;
    for (SampledGroup& group : events.groups_) {
      const std::vector<int>& cpus = group.front().request.cpus;
      const bool is_here = cpus.empty() || std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
      if (is_here && !add_group(first_event, group, pid, cpu, flags, carries_sideband && is_first,
                                ring_owner)) {
        return false;
      }
      is_first = is_first && !is_here;
      first_event += group.size();
    }
    return true;
  }

  bool open_cpu(int cpu) const {
    int ring_owner = -1;
    if (targets.per_cpu) {
      const bool is_cgroup = targets.cgroup >= 0;
      return add_sideband(-1, cpu, ring_owner) &&
             add_groups(is_cgroup ? targets.cgroup : -1, cpu, is_cgroup ? PERF_FLAG_PID_CGROUP : 0,
                        false, ring_owner);
    }
    for (const pid_t tid : targets.tids) {
      if (targets.delayed && !add_sideband(tid, cpu, ring_owner)) return false;
      // A thread may have ended since it was listed.
      if (!add_groups(tid, cpu, 0, !targets.delayed, ring_owner) && failure.error_number != ESRCH) {
        return false;
      }
    }
    return ring_owner >= 0;
  }
};

std::optional<PerfEvents> PerfEvents::open(const EventTargets& targets, SamplingSetup setup,
                                           std::vector<SampledGroup> groups, OpenFailure& failure) {
  PerfEvents events;
  for (SampledGroup& group : groups) {
    events.events_ += group.size();
    for (SampledEvent& event : group) {
      if (event.request.precise_max) event.request.precise_level = 3;
    }
  }
  events.groups_ = std::move(groups);
  setup.per_cpu = targets.per_cpu;
  setup.many_events = events.events_ > 1;
  setup.wakeup_bytes = kUsualRingBytes / 2;
  events.is_per_cpu_ = targets.per_cpu;
  const Opening opening{targets, setup, events, failure};
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

void PerfEvents::start_sampling() {
  // The first sample comes a whole period after the start of an event. The program begins at
  // the end of the window, so that comes at any time within its first period. (Events of a
  // task run only with it: there the child spins, see recording/started_command.h.)
  constexpr uint64_t kLongestWindowNs = 20'000'000;
  std::vector<std::pair<uint64_t, int>> starts;
  uint64_t longest_ns = 0;
  for (const Sampler& sampler : samplers_) {
    if (!sampler.is_leader) continue;
    const uint64_t window_ns =
        is_per_cpu_ ? std::min(sampler.clock_period_ns, kLongestWindowNs) : 0;
    longest_ns = std::max(longest_ns, window_ns);
    starts.emplace_back(random_below(window_ns), sampler.fd.get());
  }
  std::sort(starts.begin(), starts.end());
  const uint64_t begin_ns = monotonic_ns();
  for (const auto& [wait_ns, fd] : starts) {
    if (wait_ns != 0) sleep_until(begin_ns + wait_ns);
    ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
  }
  if (longest_ns != 0) sleep_until(begin_ns + longest_ns);
}

void PerfEvents::stop_sampling() {
  for (const Sampler& sampler : samplers_) {
    if (sampler.is_leader) ::ioctl(sampler.fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  }
}

void PerfEvents::set_clock_period(uint64_t period_ns) {
  for (Sampler& sampler : samplers_) {
    if (sampler.clock_period_ns == 0) continue;
    if (::ioctl(sampler.fd.get(), PERF_EVENT_IOC_PERIOD, &period_ns) == 0) {
      sampler.clock_period_ns = period_ns;
    }
  }
}

void PerfEvents::stop() {
  stop_sampling();
  for (const Fd& fd : sideband_) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::optional<uint64_t> PerfEvents::read_lost_samples() const {
  // The kernel tells of inherited events only what the first task lost.
  if (!features_.lost_counts || !is_per_cpu_) return std::nullopt;
  uint64_t lost = 0;
  for (const Sampler& sampler : samplers_) {
    uint64_t words[4] = {};  // value, enabled, running, lost
    if (::read(sampler.fd.get(), words, sizeof words) == sizeof words) lost += words[3];
  }
  return lost;
}

std::vector<EventTotal> PerfEvents::read_totals() const {
  std::vector<EventTotal> totals(events_);
  for (const Sampler& sampler : samplers_) {
    uint64_t words[4] = {};
    if (::read(sampler.fd.get(), words, sizeof words) < static_cast<ssize_t>(3 * sizeof words[0])) {
      continue;
    }
    EventTotal& total = totals[sampler.event];
    total.value += words[0];
    total.enabled_ns += words[1];
    total.running_ns += words[2];
  }
  return totals;
}

}  // namespace culprit
