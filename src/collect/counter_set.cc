#include "collect/counter_set.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collect/event_refusal.h"
#include "collect/perf_attr.h"

namespace culprit {

Reading& Reading::operator+=(const Reading& more) {
  value += more.value;
  enabled_ns += more.enabled_ns;
  running_ns += more.running_ns;
  return *this;
}

/// The counters while they are being opened.
struct CounterSet::Opening {
  const CountTargets& targets;
  CounterSet& set;

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
      attr.enable_on_exec = targets.starts_at_exec && leader < 0 ? 1 : 0;
      Fd fd = open_perf_event(attr, pid, cpu, flags, leader);
      if (!fd) {
        const int reason = errno;
        set.counters_.resize(before);
        if ((reason == ESRCH && !counts_cpus()) || (reason == ENODEV && cpu >= 0)) return false;
        return explain_refusal(event, {reason, counts_cpus(), leader >= 0});
      }
      const bool is_leader = leader < 0;
      if (is_leader) leader = fd.get();
      set.counters_.push_back({std::move(fd), first_event + member, source, is_leader, {}});
    }
    return true;
  }

  /// On CPUs of the PMU alone: a hybrid one has not all, an uncore one has one per package.
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
    if (leader.is_per_cpu_only) {
      return Error{fmt::format(
          "cannot count '{}' for a program: it belongs to a whole package\n-> count all CPUs (-a)",
          leader.name)};
    }
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
  const Opening opening{targets, set};
  for (const EventGroup& group : groups) {
    const size_t first_event = set.events_;
    set.events_ += group.members.size();
    const size_t before = set.counters_.size();
    const Result<void> opened = opening.open_everywhere(group, first_event);
    if (opened) continue;
    if (refused == nullptr) return opened.error();
    set.counters_.resize(before);
    // The one that was refused takes its group along.
    std::string reason = opened.error().message;
    for (const EventRequest& member : group.members) {
      const std::string prefix = fmt::format("cannot count '{}': ", member.name);
      if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
    }
    for (size_t i = 0; i < group.members.size(); ++i) refused->push_back({first_event + i, reason});
  }
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

std::vector<Reading> CounterSet::read_new() {
  std::vector<Reading> fresh(events_ * sources_);
  for (Counter& counter : counters_) {
    uint64_t words[3] = {};  // as read_format asks; nothing, if a pinned event lost its counter
    if (::read(counter.fd.get(), words, sizeof words) != sizeof words) continue;
    const Reading now{words[0], words[1], words[2]};
    fresh[counter.event * sources_ + counter.source] +=
        Reading{now.value - counter.before.value, now.enabled_ns - counter.before.enabled_ns,
                now.running_ns - counter.before.running_ns};
    counter.before = now;
  }
  return fresh;
}

}  // namespace culprit
