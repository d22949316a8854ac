#pragma once

// CounterSet: the open counters of one run. Each event has a counter for each thread or
// CPU that is counted; members of a group get theirs together.

#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "events/event_request.h"

#include "base/file.h"
#include "base/result.h"

namespace culprit {

struct CountTargets {
  std::vector<pid_t> tids;      // tasks; empty: whole CPUs
  int cgroup = -1;              // a descriptor: its tasks on whole CPUs
  std::vector<int> cpus;        // whole CPUs: these; tasks: only there (empty: anywhere)
  bool inherit = true;          // by threads and children of the tasks
  bool starts_at_exec = false;  // of the one task there is
};

/// What a counter says, or what it says more than before.
struct Reading {
  uint64_t value = 0;
  uint64_t enabled_ns = 0;
  uint64_t running_ns = 0;  // less than enabled: it had to share its counter
  Reading& operator+=(const Reading& more);
  friend bool operator==(const Reading&, const Reading&) = default;
};

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

  void enable();
  void disable();

  /// What was counted since the last call, for each event and each of `targets.tids` (one, if
  /// there are none): [event * sources() + source].
  std::vector<Reading> read_new();
  [[nodiscard]] size_t sources() const { return sources_; }

 private:
  struct Counter {
    Fd fd;
    size_t event = 0;
    size_t source = 0;
    bool is_leader = false;
    Reading before;
  };
  struct Opening;

  std::vector<Counter> counters_;
  size_t events_ = 0;
  size_t sources_ = 1;
};

}  // namespace culprit
