#pragma once

// run_daemon(): samples the whole system into a database of epochs, until it is told to stop. It is
// a source of the loop that every run goes through (recording/run_loop.h).
//
//     every minute      drain      the collector's tables → the profile of this epoch; sooner where
//                                  they fill, events take turns, or a process is to be asked
//                       flush      what is new → current/….culprit (survives kill -9)
//     every 10 minutes  next epoch the file is completed, renamed into epochs/, and its symbols
//                                  are looked up by a child process of low priority, which
//                                  then thins out old epochs
//
// A new epoch begins, too, when it is asked for, when the clock is set, and when CPUs, the rate,
// events or a label change. Its length is of CLOCK_BOOTTIME: a machine that slept begins a new one.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "epochs/thin_out.h"
#include "model/ids.h"
#include "recording/run_control.h"
#include "records/user_stack.h"

namespace culprit {

struct ClosedEpoch {
  std::string path;
  std::string facts_folder;
  std::map<ImageId, Fd> held;  // files of its images
  /// The daemon ends, and nobody is to wait: only what cannot be found later. `held` is of files
  /// that have no name any more; beside them there is the kernel that runs.
  bool is_hurried = false;
};

struct DaemonOptions {
  std::string database;
  double rate_hz = 0;               // per CPU; 0: by `budget_percent`
  double budget_percent = 1;        // of each CPU's time, for samples
  std::vector<std::string> events;  // beside time (daemon_events.h)
  bool by_process = false;          // processes are told apart, not commands alone
  double stacks_hz = 0;             // call stacks, per CPU; 0: none
  MakeUnwindStack make_unwinder;    // walks them; empty: frame pointers do
  uint64_t epoch_ns = 600'000'000'000;
  uint64_t flush_ns = 60'000'000'000;
  bool use_bpf = true;
  Keeping keeping;                // of old epochs
  RunControl* control = nullptr;  // who else may ask for an end or an epoch; null: nobody
  /// What the operator should know: a line each.
  std::function<void(const std::string&)> say;
  /// Makes facts of what has counts in a finished epoch. Runs in a process of its own, one at a
  /// time; may be empty.
  std::function<void(const ClosedEpoch&)> complete;
};

/// Errors: the database is in use or cannot be written; nothing may be sampled here.
Result<void> run_daemon(const DaemonOptions& options);

/// A period near 1 / rate, prime, so that it is in step with nothing.
/// Units:  rate [1/s] -> [ns]
uint64_t choose_period_ns(double rate_hz);

}  // namespace culprit
