#pragma once

// count(): runs a command, several times if asked, or watches processes, a cgroup or the
// whole system, and counts events for all of the time: no samples, no code addresses.
//
// The result is a Profile with Count rows, one for each event, repetition, interval and
// (with per_thread) thread. Without intervals asked for, an event that had to share its
// counter has many rows all the same: how its rate varied from one to the next tells how
// far the extrapolated sum may be off (room `counts`).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"
#include "collect/count/counter_set.h"
#include "events/event_request.h"
#include "model/profile.h"
#include "recording/run_control.h"

namespace culprit {

struct CountOptions {
  // What to count: exactly one of these, or `command` together with `cgroup` or
  // `system_wide`, which then only sets the duration.
  std::vector<std::string> command;
  std::vector<pid_t> pids;
  std::string cgroup;
  bool system_wide = false;

  std::vector<EventGroup> groups;
  bool may_leave_out = false;  // events that this machine refuses (nobody asked for them by name)
  std::vector<int> cpus;       // only there; empty: all
  bool inherit = true;         // by children and new threads
  bool per_thread = false;     // of running processes: a row for each of their threads
  uint32_t repetitions = 1;
  bool one_by_one = false;  // a run of its own for each group, so that none shares counters
  std::optional<uint64_t> interval_ns;
  std::optional<uint64_t> duration_ns;
  uint64_t delay_ns = 0;
  RunControl* control = nullptr;  // who may ask for an end; null: nobody
};

/// What counting leaves for its caller.
struct CountResult {
  Profile profile;
  std::vector<RefusedEvent> refused;  // with `may_leave_out`
  std::vector<std::string> remarks;   // for the terminal: what is weaker than asked for
  bool interrupted = false;
  int command_wait_status = 0;  // as wait(2), of the last run
  bool command_started = false;
};

/// Called at the end of each interval, with all rows so far.
using IntervalSink =
    std::function<void(const Profile& so_far, uint32_t repetition, uint32_t interval)>;

/// Runs until the command has ended so many times, the processes exit, `duration_ns` has
/// passed or `control` asks for an end; what was counted until then is the result.
/// Errors: an event that cannot be counted, with reason and remedy; nothing to count; a
///         command that cannot be run
Result<CountResult> count(const CountOptions& options, const IntervalSink& on_interval);

}  // namespace culprit
