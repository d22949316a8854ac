#pragma once

// PerfEvents: the open events of a recording and their rings, one per CPU.
//
//   per CPU     a dummy event carries mappings, names and forks of all tasks there from
//               the start; a cpu-clock event of all tasks there (or of a cgroup's) writes
//               into the same ring. exclude_idle; strangers are sorted out later.
//   per task    one inherited cpu-clock event for each thread and CPU, which carries all;
//               with a delay, a dummy event beside it.
//
// docs/decisions/0001-sample-per-cpu.md says why the first is the better one.

#include <optional>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "collect/perf_attr.h"
#include "collect/ring.h"

namespace culprit {

struct EventTargets {
  std::vector<int> cpus;
  bool per_cpu = true;
  std::vector<pid_t> tids;  // per task
  int cgroup = -1;          // a descriptor: the clock counts its tasks only
  bool delayed = false;     // start_clock() comes later than start_sideband()
};

/// Why events could not be opened. `error_number` decides about falling back.
struct OpenFailure {
  int error_number = 0;
  Error error;
};

class PerfEvents {
 public:
  /// nullopt: `failure` says why.
  static std::optional<PerfEvents> open(const EventTargets& targets, ClockEvent event,
                                        OpenFailure& failure);

  void start_sideband();
  /// Each at its own random moment, so that the first sample falls anywhere into the first
  /// period after the call. Takes a period, at most 20 ms.
  void start_clock();
  void stop();

  [[nodiscard]] const RecordLayout& layout() const { return layout_; }
  [[nodiscard]] std::span<Ring> rings() { return rings_; }
  /// One descriptor per ring that becomes readable at the watermark.
  [[nodiscard]] const std::vector<int>& wakeups() const { return wakeups_; }

  /// Samples that did not fit into the rings; nullopt: the kernel does not say.
  [[nodiscard]] std::optional<uint64_t> read_lost_samples() const;

 private:
  struct Opening;

  PerfFeatures features_;
  RecordLayout layout_;
  uint64_t period_ns_ = 0;
  bool is_per_cpu_ = false;
  std::vector<Fd> sideband_;
  std::vector<Fd> clocks_;
  std::vector<Ring> rings_;
  std::vector<int> wakeups_;
};

}  // namespace culprit
