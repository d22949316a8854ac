#pragma once

// What each thread counted, of tasks whose counters are inherited: threads that begin while
// they are counted have a row of their own, too.
//
// The kernel adds what an inherited counter counted to its parent's, and with inherit_stat also
// writes a READ record when the task ends. So
//
//     counter of the first task   100      what all of its threads and children counted
//     READ of thread 11            30
//     READ of thread 12            50      thread 12 had 50, and
//     no READ of thread 10         20      = 100 - 30 - 50 is left for the one that wrote none
//
// (perf's `record -s` shows the same records.) Of several that still run at the end only the sum
// is known; that is said.
//
// Where two threads have inherited the same counters, the kernel does not switch these when it
// switches threads, but exchanges them, and with inherit_stat their values. So the one that wrote
// none need not be the first task. And it pairs counters by their place in two lists, which need
// not have the same order (counter_set.cc keeps it up to Linux 6.1): from Linux 6.12 on it does
// not exchange where PERF_SAMPLE_READ is asked for; in between, programs are not told apart.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/result.h"
#include "collect/count/counter_set.h"
#include "collect/perf/ring.h"
#include "records/record.h"
#include "records/record_layout.h"

namespace culprit {

struct ThreadReading {
  pid_t tid = 0;
  std::string name;
  std::vector<Reading> readings;  // by event
};

/// Finds the parts to ask for, of the records in which the kernel tells what threads counted.
/// Errors: this kernel tells nothing (between Linux 5.13 and 2025 it forgot to), or mixes counters
/// up when it switches between threads
Result<uint64_t> find_thread_sample_type();

class ThreadReadings {
 public:
  /// Opens the rings for counters that were opened with `targets`, before they are enabled.
  /// Errors: no rings, for want of memory that may be locked
  static Result<ThreadReadings> open(const CounterSet& counters, const CountTargets& targets);

  /// Takes what the kernel wrote: often, lest it finds no room.
  void drain();

  /// What every thread there was has counted, in the order they began; `counters` are disabled.
  /// Appends to `remarks` what could not be told apart.
  std::vector<ThreadReading> finish(const CounterSet& counters, std::vector<std::string>& remarks);

 private:
  struct Task {
    size_t source = 0;
    std::string name;
    size_t order = 0;
  };
  /// What READ records of one task told, by counter: one for each CPU.
  using Told = std::map<size_t, Reading>;
  /// A task's beginning or its new name, to be put in the order of time.
  struct Change {
    uint64_t time_ns = 0;
    pid_t tid = 0;
    pid_t parent = 0;  // 0: a new name
    std::string name;
  };

  Result<void> add_ring(int fd, int cpu, std::map<int, int>& owners);
  void take(const Record& record);
  void replay_changes();
  void give_rest(size_t source, size_t event, const Told& totals, std::set<pid_t>& unclear);

  std::vector<Ring> rings_;
  RecordLayout layout_;
  std::vector<size_t> event_of_counter_;
  std::map<uint64_t, size_t> counter_of_id_;
  std::map<pid_t, Task> tasks_;
  std::vector<Change> changes_;
  std::map<std::pair<pid_t, size_t>, Told> told_;  // by task and event
  uint64_t lost_records_ = 0;                      // as the kernel says
  uint64_t missing_readings_ = 0;                  // of threads that told some
};

}  // namespace culprit
