#include "collect/count/counter_set.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "collect/perf/event_refusal.h"
#include "collect/perf/perf_attr.h"

namespace culprit {

Reading& Reading::operator+=(const Reading& more) {
  value += more.value;
  enabled_ns += more.enabled_ns;
  running_ns += more.running_ns;
  return *this;
}

namespace {

/// Records of what each thread counted, at its end; with `names`, also of births and names.
void tell_threads(perf_event_attr& attr, uint64_t sample_type, bool names) {
  attr.inherit_stat = 1;
  attr.read_format |= PERF_FORMAT_ID;
  attr.sample_type = sample_type;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.comm = attr.task = names ? 1 : 0;
}

}  // namespace

/// Two counters are read and switched at slightly different moments: by less than any turn of
/// counters, which takes a millisecond at least.
Reading with_presence(Reading more, const Reading& there, const Reading& so_far,
                      const Reading& there_so_far) {
  const uint64_t skew_ns = 200'000 + there_so_far.running_ns / 1000;
  const bool shared = there_so_far.running_ns > so_far.running_ns + skew_ns;
  more.enabled_ns = shared ? std::max(there.running_ns, more.running_ns) : more.running_ns;
  return more;
}

Reading& Reading::operator-=(const Reading& less) {
  value -= std::min(value, less.value);
  enabled_ns -= std::min(enabled_ns, less.enabled_ns);
  running_ns -= std::min(running_ns, less.running_ns);
  return *this;
}

/// The counters while they are being opened.
struct CounterSet::Opening {
  const CountTargets& targets;
  CounterSet& set;
  size_t events;  // of all groups

  [[nodiscard]] bool counts_cpus() const { return targets.tids.empty(); }

  /// One group for one task or CPU. False: the task or the CPU is gone, which is no error.
  Result<bool> open_group(const EventGroup& group, size_t first_event, size_t source, pid_t pid,
                          int cpu) const {
    const unsigned long flags = targets.cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0;
    int leader = -1;
    const size_t before = set.counters_.size();
    for (size_t member = 0; member < group.members.size(); ++member) {
      const EventRequest& event = group.members[member];
      perf_event_attr attr = make_counting_attr(event, leader < 0);
      attr.inherit = !counts_cpus() && targets.inherit ? 1 : 0;
      if (targets.thread_sample_type != 0) {
        tell_threads(attr, targets.thread_sample_type, first_event == events);
      }
      attr.enable_on_exec = targets.starts_at_exec && leader < 0 ? 1 : 0;
      Fd fd = event.is_absent ? Fd() : open_perf_event(attr, pid, cpu, flags, leader);
      if (!fd) {
        const int reason = event.is_absent ? ENOENT : errno;
        set.counters_.resize(before);
        if ((reason == ESRCH && !counts_cpus()) || (reason == ENODEV && cpu >= 0)) return false;
        return explain_refusal(event,
                               {reason, counts_cpus(), leader >= 0, "count", targets.cgroup >= 0});
      }
      const bool is_leader = leader < 0;
      if (is_leader) leader = fd.get();
      set.counters_.push_back({std::move(fd), first_event + member, source, cpu, is_leader, {}});
    }
    return true;
  }

  /// Opens a counter of nothing for a task on certain CPUs. It needs no hardware, and so runs for
  /// as long as the task is there.
  Result<void> open_presence(size_t source, int cpu) const {
    EventRequest nothing;
    nothing.name = "dummy";
    nothing.type = PERF_TYPE_SOFTWARE;
    nothing.config = PERF_COUNT_SW_DUMMY;
    nothing.exclude_kernel = nothing.exclude_hypervisor = true;
    const Result<bool> opened =
        open_group(EventGroup{{nothing}}, events, source, targets.tids[source], cpu);
    if (!opened) return opened.error();
    return {};
  }

  void link_presence() const {
    std::map<std::pair<size_t, int>, size_t> found;  // by source and CPU
    for (size_t i = 0; i < set.counters_.size(); ++i) {
      const Counter& counter = set.counters_[i];
      if (counter.event == events) found[{counter.source, counter.cpu}] = i;
    }
    for (Counter& counter : set.counters_) {
      const auto presence = found.find({counter.source, counter.cpu});
      if (counter.event != events && presence != found.end()) counter.presence = presence->second;
    }
  }

  static Result<void> check_is_of_tasks(const EventRequest& event) {
    if (!event.is_per_cpu_only) return {};
    return Error{fmt::format(
        "cannot count '{}' for a program: it belongs to a whole package\n-> count all CPUs (-a)",
        event.name)};
  }

  /// Opens them in the order in which a new thread inherits: pinned ones, then CPU by CPU. Where
  /// the kernel exchanges the counters of two threads, it takes those at the same place of their
  /// lists for the same.
  Result<void> open_in_order(std::span<const EventGroup> groups,
                             std::vector<RefusedEvent>* refused) const {
    for (const EventGroup& group : groups) {
      RETURN_IF_ERROR(check_is_of_tasks(group.members.front()));
    }
    InOrder order{groups, refused != nullptr, std::vector<bool>(groups.size()),
                  std::vector<std::string>(groups.size())};
    for (size_t source = 0; source < targets.tids.size(); ++source) {
      for (const bool pinned : {true, false}) {
        for (const int cpu : targets.cpus) {
          if (!pinned) RETURN_IF_ERROR(open_presence(source, cpu));
          RETURN_IF_ERROR(open_groups_at(order, source, cpu, pinned));
        }
      }
    }
    size_t first_event = 0;
    for (size_t i = 0; i < groups.size(); first_event += groups[i++].members.size()) {
      if (!order.reasons[i].empty()) refuse(groups[i], first_event, order.reasons[i], *refused);
    }
    return {};
  }

  struct InOrder {
    std::span<const EventGroup> groups;
    bool may_refuse;
    std::vector<bool> is_open;         // by group: somewhere
    std::vector<std::string> reasons;  // by group: why it is refused
  };
  Result<void> open_groups_at(InOrder& order, size_t source, int cpu, bool pinned) const {
    size_t first_event = 0;
    for (size_t i = 0; i < order.groups.size(); first_event += order.groups[i++].members.size()) {
      const EventGroup& group = order.groups[i];
      const EventRequest& leader = group.members.front();
      const std::vector<int> cpus = cpus_of(leader);
      const bool is_here = std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
      if (leader.pinned != pinned || !is_here || !order.reasons[i].empty()) continue;
      const Result<bool> opened = open_group(group, first_event, source, targets.tids[source], cpu);
      if (!opened && (!order.may_refuse || order.is_open[i])) return opened.error();
      if (!opened) order.reasons[i] = opened.error().message;
      order.is_open[i] = true;
    }
    return {};
  }

  /// The one that was refused takes its group along.
  static void refuse(const EventGroup& group, size_t first_event, std::string reason,
                     std::vector<RefusedEvent>& refused) {
    for (const EventRequest& member : group.members) {
      const std::string prefix = fmt::format("cannot count '{}': ", member.name);
      if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
    }
    for (size_t i = 0; i < group.members.size(); ++i) refused.push_back({first_event + i, reason});
  }

  /// The CPUs that the PMU counts on: a hybrid one has not all, an uncore one has one per package.
  [[nodiscard]] std::vector<int> cpus_of(const EventRequest& event) const {
    if (event.cpus.empty()) return targets.cpus;
    std::vector<int> common;
    for (const int cpu : event.cpus) {
      if (std::find(targets.cpus.begin(), targets.cpus.end(), cpu) != targets.cpus.end())
        common.push_back(cpu);
    }
    return common;
  }

  Result<void> open_everywhere(const EventGroup& group, size_t first_event) const {
    const EventRequest& leader = group.members.front();
    const std::vector<int> cpus = cpus_of(leader);
    size_t opened = 0;
    if (counts_cpus()) {
      for (const int cpu : cpus) {
        ASSIGN_OR_RETURN(const bool is_open,
                         open_group(group, first_event, 0, targets.cgroup, cpu));
        opened += is_open ? 1 : 0;
      }
      if (opened > 0) return {};
      return Error{
          fmt::format("cannot count '{}': its PMU counts on none of these CPUs", leader.name)};
    }
    RETURN_IF_ERROR(check_is_of_tasks(leader));
    const std::vector<int> places = targets.cpus.empty() ? std::vector<int>{-1} : cpus;
    for (size_t source = 0; source < targets.tids.size(); ++source) {
      for (const int cpu : places) {
        RETURN_IF_ERROR(open_group(group, first_event, source, targets.tids[source], cpu));
      }
    }
    return {};
  }
};

Result<CounterSet> CounterSet::open(std::span<const EventGroup> groups, const CountTargets& targets,
                                    std::vector<RefusedEvent>* refused) {
  CounterSet set;
  set.sources_ = std::max<size_t>(targets.tids.size(), 1);
  for (const EventGroup& group : groups) set.events_ += group.members.size();
  const Opening opening{targets, set, set.events_};
  if (targets.thread_sample_type != 0) {
    RETURN_IF_ERROR(opening.open_in_order(groups, refused));
    opening.link_presence();
    return set;
  }
  for (size_t source = 0; source < targets.tids.size(); ++source) {
    for (const int cpu : targets.cpus) RETURN_IF_ERROR(opening.open_presence(source, cpu));
  }
  size_t first_event = 0;
  for (const EventGroup& group : groups) {
    const size_t before = set.counters_.size();
    const Result<void> opened = opening.open_everywhere(group, first_event);
    if (!opened && refused == nullptr) return opened.error();
    if (!opened) {
      set.counters_.resize(before);
      Opening::refuse(group, first_event, opened.error().message, *refused);
    }
    first_event += group.members.size();
  }
  opening.link_presence();
  return set;
}

void CounterSet::enable() {
  for (const Counter& counter : counters_) {
    if (counter.is_leader) ::ioctl(counter.fd.get(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
  }
}

void CounterSet::disable() {
  for (const Counter& counter : counters_) {
    if (counter.is_leader) ::ioctl(counter.fd.get(), PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  }
}

namespace {

/// Value, times, and more that read_format may ask for. Of a pinned event that got no counter the
/// kernel tells the end of the file: enabled, for an unknown time, and never running.
std::optional<Reading> read_counter(int fd) {
  uint64_t words[4] = {};
  const ssize_t got = ::read(fd, words, sizeof words);
  if (got == 0) return Reading{0, 1, 0};
  if (got < static_cast<ssize_t>(3 * sizeof words[0])) return std::nullopt;
  return Reading{words[0], words[1], words[2]};
}

}  // namespace

std::vector<Reading> CounterSet::read_new() {
  std::vector<Reading> more(counters_.size());
  for (size_t i = 0; i < counters_.size(); ++i) {
    Reading& before = counters_[i].before;
    const std::optional<Reading> now = read_counter(counters_[i].fd.get());
    if (!now || now->enabled_ns < before.enabled_ns) continue;  // a pinned one lost its counter
    more[i] = *now;
    more[i] -= before;
    before = *now;
  }
  std::vector<Reading> fresh(events_ * sources_);
  for (size_t i = 0; i < counters_.size(); ++i) {
    const Counter& counter = counters_[i];
    if (counter.event == events_) continue;
    if (counter.presence) {
      const size_t there = *counter.presence;
      more[i] = with_presence(more[i], more[there], counter.before, counters_[there].before);
    }
    fresh[counter.event * sources_ + counter.source] += more[i];
  }
  return fresh;
}

std::vector<Reading> CounterSet::read_each() const {
  std::vector<Reading> readings;
  for (const Counter& counter : counters_) {
    readings.push_back(read_counter(counter.fd.get()).value_or(Reading()));
  }
  return readings;
}

}  // namespace culprit
