#pragma once

// The `timer` engine where perf_event_open() is refused: the program samples itself.
//
//   culprit                               the program and its children
//   -------                               ----------------------------
//   check_preloadable (posix_timer_check)
//   StartedCommand, shim_environment      LD_PRELOAD=libculprit_timer.so (guest/)
//   TimerRings (posix_timer_rings)   <--  one ring file per thread
//   perf's own record formats, so the same processing as for the kernel's (process_stream)
//
// Seen are the program's own instructions. Time inside system calls is known as a sum only;
// page faults count where they happen. Programs that cannot be preloaded are refused.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "follow/sample_regions.h"
#include "recording/recording.h"
#include "recording/run_control.h"

namespace culprit {

struct TimerOptions {
  std::vector<std::string> command;
  uint64_t period_ns = 0;
  uint64_t delay_ns = 0;
  uint64_t flush_every_ns = kFlushEveryNs;
  std::optional<uint64_t> duration_ns;
  bool stacks = false;
  SampleRegions* regions = nullptr;  // as RecordOptions
  std::string shim_path;             // libculprit_timer.so
  RunControl* control = nullptr;
};

/// Does as record() (room `collect`), for a command. `reason`: why perf_event_open() was not used,
/// for the messages;
/// "" if the caller chose this engine.
/// Errors: a command that cannot be preloaded, or run.
Result<Recording> record_with_posix_timer(const TimerOptions& options, const RecordSink& sink,
                                          const ProgressSink& progress, const std::string& reason);

}  // namespace culprit
