#pragma once

// PerfEvents: the open events of a recording and their rings, one per CPU.
//
//   per CPU     a dummy event carries mappings, names and forks of all tasks there from
//               the start; the sampled events of all tasks there (or of a cgroup's) write
//               into the same ring. exclude_idle; strangers are sorted out later.
//   per task    inherited events for each thread and CPU, the first of which carries all;
//               with a delay, a dummy event beside them.
//
// The `timer` engine is the case of one event: cpu-clock.
//
// docs/decisions/0001-sample-per-cpu.md says why the first is the better one.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "collect/perf/perf_attr.h"
#include "collect/perf/ring.h"

namespace culprit {

struct EventTargets {
  std::vector<int> cpus;
  bool per_cpu = true;
  std::vector<pid_t> tids;  // per task
  int cgroup = -1;          // a descriptor: only its tasks are sampled
  bool delayed = false;     // start_sampling() comes later than start_sideband()
};

/// Events that are scheduled together, with how often each is sampled.
using SampledGroup = std::vector<SampledEvent>;

/// What one event counted on all its CPUs and tasks, beside its samples.
struct EventTotal {
  uint64_t value = 0;
  uint64_t enabled_ns = 0;
  uint64_t running_ns = 0;  // less than enabled: it shared its counter
};

/// Why events could not be opened. `error_number` decides about falling back.
struct OpenFailure {
  int error_number = 0;
  Error error;
};

class PerfEvents {
 public:
  /// nullopt: `failure` says why.
  static std::optional<PerfEvents> open(const EventTargets& targets, SamplingSetup setup,
                                        std::vector<SampledGroup> groups, OpenFailure& failure);

  void start_sideband();
  /// Clocks each at its own random moment, so that the first sample falls anywhere into the
  /// first period after the call; that takes a period, at most 20 ms.
  void start_sampling();
  void stop();
  /// No samples until start_sampling(); the sideband goes on.
  void stop_sampling();
  /// Clocks have this period from now on.
  void set_clock_period(uint64_t period_ns);

  [[nodiscard]] const RecordLayout& layout() const { return layout_; }
  [[nodiscard]] std::span<Ring> rings() { return rings_; }
  /// One descriptor per ring that becomes readable at the watermark.
  [[nodiscard]] const std::vector<int>& wakeups() const { return wakeups_; }

  /// Samples that did not fit into the rings; nullopt: the kernel does not say.
  [[nodiscard]] std::optional<uint64_t> read_lost_samples() const;

  /// The totals of each event, in the order of the groups and their members.
  [[nodiscard]] std::vector<EventTotal> read_totals() const;
  /// Rows of events by the identifiers in their records, where there are several.
  [[nodiscard]] const std::map<uint64_t, size_t>& event_of_id() const { return event_of_id_; }
  /// What the kernel would not do as asked: "cycles:pp: sampled with precise level 1, ...".
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  struct Opening;

  PerfFeatures features_;
  RecordLayout layout_;
  struct Sampler {
    Fd fd;
    size_t event = 0;
    bool is_leader = false;
    uint64_t clock_period_ns = 0;  // 0: no clock
  };

  std::vector<SampledGroup> groups_;
  size_t events_ = 0;
  bool is_per_cpu_ = false;
  std::vector<Fd> sideband_;
  std::vector<Sampler> samplers_;
  std::map<uint64_t, size_t> event_of_id_;
  std::vector<std::string> remarks_;
  std::vector<Ring> rings_;
  std::vector<int> wakeups_;
};

}  // namespace culprit
