#pragma once

// Reads a counts file (counting/counts_file.h), also while it is still written. The simulated
// program can reach the file's memory, so nothing in it is believed.

#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/counting/counts_file.h"

namespace culprit {

/// What one process image has counted.
struct ProcessCounts {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  bool is_fork = false;
  bool is_stopped = false;  // reached the limit
  uint64_t start_ns = 0;    // CLOCK_MONOTONIC
  std::string program;
  std::string messages;  // the engine's own
  std::vector<counts_file::Site> sites;
  std::vector<counts_file::Mapping> mappings;
  std::vector<std::string> paths;  // of the mappings
  // Per site, of all cores:
  std::vector<uint64_t> executions;
  std::vector<counts_file::SiteCounts> counts;
  std::vector<simulate::SiteTicks> ticks;  // with those of blocks; empty: no cycles were modelled
  std::vector<counts_file::SampledMisses> misses;  // empty: all sets were simulated
  uint32_t sample_classes = 0;                     // of them
  std::vector<int32_t> displacements;              // of direct branches, by site
  std::vector<counts_file::Target> targets;        // of indirect branches; each pair once
  uint64_t other_targets = 0;                      // branches that are in no row of them
  uint64_t clock_ticks = 0;                        // of all cores' clocks: the sum of `ticks`
  uint64_t system_calls = 0;
  uint64_t system_call_ns = 0;
  uint64_t outside_instructions = 0;  // of --roi, or skipped: not in any count
  uint64_t native_execs = 0;
  uint64_t uncounted_blocks = 0;
  uint64_t uncounted_cores = 0;
  uint32_t threads = 0;         // that ran any instruction, by number of core
  bool is_interleaved = false;  // they took turns by simulated time
};

/// Errors: not a counts file of this version, numbers that contradict each other.
Result<ProcessCounts> read_counts(int fd, const std::string& name);

/// The little that is asked while the program runs.
struct CountsGlance {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint64_t start_ns = 0;
  bool is_fork = false;
  bool has_made_code = false;  // runs code that is in no file
  uint64_t instructions = 0;
  std::vector<counts_file::Mapping> mappings;
  std::vector<std::string> paths;
};
Result<CountsGlance> glance_at_counts(int fd, const std::string& name);

}  // namespace culprit
