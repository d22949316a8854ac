#pragma once

// run_loop(): the life of a run, for whoever collects. What differs between collectors is a
// RunSource; everything else about a run is here, once:
//
//   begin()                 at the start, or after the delay
//   command is let go
//     take()                at each wake-up: something can be taken, time, a request
//     flush()               every second or so
//     end_epoch()           when somebody asks for a new one; a source of one epoch flushes
//   end()                   the targets have ended, the time is over, somebody asks for an
//                           end, or what was collected cannot be written
//   the command is waited for, unless somebody asks not to
//
// Nobody but the loop looks at the clock to decide about these, or at signals at all: who may ask
// for something is an option (RunControl).

#include <cstdint>
#include <optional>
#include <span>
#include <sys/resource.h>

#include "base/result.h"
#include "recording/recording.h"
#include "recording/run_control.h"
#include "recording/run_targets.h"

namespace culprit {

/// What collects. All calls come from the one thread that runs the loop.
class RunSource {
 public:
  virtual ~RunSource() = default;

  /// Samples or counts are of the run from now on.
  virtual void begin() = 0;
  /// Takes what there is, before begin(), too.
  virtual void take(uint64_t now_ns) = 0;
  /// When it wants to take the next time at the latest.
  /// Units:  now_ns, -> [ns] of CLOCK_MONOTONIC
  [[nodiscard]] virtual uint64_t next_take_ns(uint64_t now_ns) const = 0;
  /// What becomes readable when there is something to take before that. Dead ones are left out.
  [[nodiscard]] virtual std::span<const int> descriptors() const { return {}; }

  /// Hands on what is new. An error ends the collecting, though not the command.
  virtual Result<void> flush(uint64_t /*since_start_ns*/) { return {}; }
  /// Hands on all that belongs to the epoch, which ends here, and begins another.
  virtual Result<void> end_epoch(uint64_t since_start_ns) { return flush(since_start_ns); }

  /// What comes after it is not of the run; takes the rest. Called once, even if begin() was not.
  virtual void end() = 0;
};

struct LoopOptions {
  uint64_t delay_ns = 0;
  std::optional<uint64_t> duration_ns = {};  // from the start, the delay included
  uint64_t flush_every_ns = 0;               // 0: never
  uint64_t flush_share = 0;                  // flushing takes at most 1 / this of the time; 0: any
  uint64_t spin_below_ns = 0;     // the command begins after up to so much CPU time (let_go())
  RunControl* control = nullptr;  // null: nobody asks for anything
};

/// How a run went.
struct RunEnd {
  uint64_t start_ns = 0;
  uint64_t epoch_start_ns = 0;           // when the last epoch began
  uint64_t stop_ns = 0;                  // collected is what was between start and stop
  bool is_cut_short = false;             // the command, if any, went on without us
  StopRequest stop = StopRequest::none;  // what somebody asked for
  Result<void> flushed;                  // the error that ended it
  bool has_command = false;
  std::optional<int> wait_status;  // of the command, as wait(2); none: there is none, or it runs on
  std::optional<rusage> usage;     // likewise
  ResourceUse use;                 // likewise
  OthersTime others;               // while it ran

  /// What the shell that waits for us is told: a command that runs on counts as interrupted; 0:
  /// none.
  [[nodiscard]] int command_wait_status() const;
  /// Duration and status of the last epoch, and the CPU time of the command, which the kernel
  /// tells of its whole life only: of a run with several epochs it is not known for the last.
  void describe(Run& run) const;
  /// These, and what became of the command.
  void describe(Recording& recording) const;
};

/// `targets` are prepared.
/// Errors: a command that cannot be run. What ended the run early is in RunEnd.
Result<RunEnd> run_loop(RunSource& source, RunTargets& targets, const LoopOptions& options);

}  // namespace culprit
