#pragma once

// record(): samples a command, processes, a cgroup or the whole system into a
// Profile: any events of perf_event_open (`pmu` engine), time (`timer`: cpu-clock) or,
// where perf_event_open is refused, POSIX timers in a preloaded shim (posix_timer.h).
//
// Samples are added up as they are read; the sink gets what is new about once a
// second, so memory grows with distinct locations and a killed recording keeps
// what it flushed.

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "events/event_request.h"
#include "follow/data_symbols.h"
#include "follow/sample_regions.h"
#include "recording/recording.h"
#include "recording/run_control.h"
#include "records/user_stack.h"

namespace culprit {

/// Whether samples are taken on CPUs and sorted out by process afterwards, or by events
/// that belong to each task (docs/decisions/ says why CPUs are the better choice).
enum class Sampling : uint8_t { automatic, per_cpu, per_task };

/// What the kernel accepts: a record's size has 16 bits.
constexpr uint32_t kLargestStackCopyBytes = 65'528;

struct RecordOptions {
  // What to record: exactly one of these, or `command` together with `cgroup` or
  // `system_wide`, which then only sets the duration.
  std::vector<std::string> command;
  std::vector<pid_t> pids;
  std::string cgroup;  // path under the cgroup mount, or absolute
  bool system_wide = false;

  EngineChoice engine = EngineChoice::automatic;
  Sampling sampling = Sampling::automatic;
  std::vector<int> cpus;           // empty: all that the command may run on
  uint64_t period_ns = 1'001'003;  // about 999 Hz; prime, so not in step with anything
  /// What a sample of time takes itself, where that matters [ns, below period_ns]; 0: nothing that
  /// is known. It is taken out: what is left is the program's own time.
  double sample_cost_ns = 0;
  /// Events to sample, instead of time; each may have its own period or frequency.
  std::vector<EventGroup> groups;
  uint64_t event_period = 0;  // of those that have none [events/sample]; 0: by frequency
  uint64_t event_frequency_hz = 999;
  bool branches = false;  // -b: the CPU's record of the last taken branches
  bool memory = false;    // --data: address, latency and source of loads and stores
  std::optional<uint64_t> duration_ns;
  uint64_t delay_ns = 0;
  uint64_t flush_every_ns = kFlushEveryNs;  // what was recorded goes to the sink so often
  bool stacks = false;                      // -g
  /// Bytes of the user stack to copy into each sample for unwinding, a multiple of 8 up to
  /// kLargestStackCopyBytes; 0: stacks are walked by frame pointers. Needs `make_unwinder`
  /// (room `unwind`, which this room does without).
  uint32_t stack_copy_bytes = 0;
  MakeUnwindStack make_unwinder;
  ReadDataSymbols read_data;  // of files in which data lies that `memory` tells of; empty: of none
  /// Time that tasks spend off their CPUs, too, by the stack with which they left. Implies
  /// `stacks`; needs events of the kernel, so no `user_only`, and not the posix-timer engine.
  bool off_cpu = false;
  SampleRegions* regions = nullptr;  // what else is measured in the command; null: nothing
  bool user_only = false;            // event modifier :u
  bool kernel_only = false;          // event modifier :k
  std::string chosen_periods;        // how, where a counting run said; for the profile's header
  std::string shim_path;             // libculprit_timer.so, for posix_timer
  RunControl* control = nullptr;     // who may ask for an end; null: nobody
};

/// Runs until the command ends, the processes exit, `duration_ns` has passed or `control` asks
/// for an end.
Result<Recording> record(const RecordOptions& options, const RecordSink& sink,
                         const ProgressSink& progress);

}  // namespace culprit
