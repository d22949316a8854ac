#pragma once

// What a daemon says of itself, as JSON on its socket and as text for people.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/daemon_events.h"
#include "daemon/sampling_totals.h"
#include "daemon/stack_sampler.h"

namespace culprit {

struct DaemonStatus {
  std::string database;
  std::string collector;
  std::string fallback;  // why it is not a better one; "" if it is the best
  uint32_t pid = 0;
  double rate_hz = 0;
  uint32_t cpus = 0;
  bool is_paused = false;
  uint64_t running_s = 0;
  std::string epoch;  // its path
  uint64_t epoch_s = 0;
  SamplingTotals in_epoch;
  SamplingTotals in_all;      // this epoch included
  uint64_t start_cpu_ns = 0;  // of the daemon until it sampled
  uint64_t cpu_ns = 0;        // and since then; without the children that look up symbols
  uint64_t resident_bytes = 0;
  uint64_t peak_bytes = 0;
  uint64_t kernel_bytes = 0;
  double stacks_hz = 0;       // on each CPU; 0: no call stacks
  StackTotals stacks;         // of this epoch
  StackTotals stacks_in_all;  // this epoch included
  uint64_t epochs = 0;        // in the database
  uint64_t epochs_bytes = 0;
  uint64_t removed_epochs = 0;  // since the daemon began, for want of space on the file system
  uint64_t removed_bytes = 0;
  std::vector<EventTotals> events;          // of this epoch, without time
  std::vector<std::string> missing_rights;  // and what is lost by it: a sentence each
  std::vector<std::string> problems;        // the latest of what went wrong
};

std::string print_status_json(const DaemonStatus& status);
/// Errors: not what a daemon says.
Result<DaemonStatus> parse_status(std::string_view json);
std::string print_status_text(const DaemonStatus& status);

}  // namespace culprit
