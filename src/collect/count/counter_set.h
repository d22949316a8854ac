#pragma once

// CounterSet: the open counters of one run. Each event has a counter for each thread or
// CPU that is counted; members of a group get theirs together.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "events/event_request.h"

namespace culprit {

struct CountTargets {
  std::vector<pid_t> tids;      // tasks; empty: whole CPUs
  int cgroup = -1;              // a descriptor: its tasks on whole CPUs
  std::vector<int> cpus;        // whole CPUs: these; tasks: only there (empty: anywhere)
  bool inherit = true;          // by threads and children of the tasks
  bool starts_at_exec = false;  // of the one task there is
  /// If it is not 0, the kernel also tells of each thread what it counted (thread_readings.h), in
  /// records with these parts. Wants tasks, `inherit`, and all CPUs in `cpus`.
  uint64_t thread_sample_type = 0;
};

/// What a counter says, or what it says more than before.
struct Reading {
  uint64_t value = 0;
  uint64_t enabled_ns = 0;
  uint64_t running_ns = 0;  // less than enabled: it had to share its counter
  Reading& operator+=(const Reading& more);
  Reading& operator-=(const Reading& less);  // never below 0
  friend bool operator==(const Reading&, const Reading&) = default;
};

/// `more`, of a counter on one of the CPUs of a task. The kernel calls it enabled while the task
/// runs on any of them; what it should have counted is the time the task was on this one, as
/// `there` counted it. `so_far`, `there_so_far`: both since their start.
Reading with_presence(Reading more, const Reading& there, const Reading& so_far,
                      const Reading& there_so_far);

/// An event that could not be counted. `event` counts over all members of all groups.
struct RefusedEvent {
  size_t event = 0;
  std::string reason;  // its remedy on lines of its own
};

class CounterSet {
 public:
  /// `refused` null: every event must open. Otherwise groups that cannot be opened are named
  /// there and left out.
  /// Errors: the first event that cannot be counted, and why.
  static Result<CounterSet> open(std::span<const EventGroup> groups, const CountTargets& targets,
                                 std::vector<RefusedEvent>* refused);

  /// One event on one thread or CPU.
  struct Counter {
    Fd fd;
    size_t event = 0;  // events(): none of those asked for, but the time that the task was there
    size_t source = 0;
    int cpu = -1;
    bool is_leader = false;
    std::optional<size_t> presence;  // of tasks on certain CPUs: which counter tells that time
    Reading before = {};
  };

  void enable();
  void disable();

  /// What was counted since the last call, for each event and each of `targets.tids` (one, if
  /// there are none): [event * sources() + source].
  std::vector<Reading> read_new();
  /// What each counter says, in the order of counters(): nothing, if it cannot be read.
  [[nodiscard]] std::vector<Reading> read_each() const;
  [[nodiscard]] size_t sources() const { return sources_; }
  [[nodiscard]] size_t events() const { return events_; }
  [[nodiscard]] std::span<const Counter> counters() const { return counters_; }

 private:
  struct Opening;

  std::vector<Counter> counters_;
  size_t events_ = 0;
  size_t sources_ = 1;
};

}  // namespace culprit
