#pragma once

// Reads a counts file (counts/counts_file.h), also while it is still written. The simulated
// program can reach the file's memory, so nothing in it is believed.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "simulate/counts/counts_file.h"
#include "simulate/counts/windows_file.h"

namespace culprit {

/// A data object of which anything was counted.
struct CountedObject {
  counts_file::Object row{};
  std::string name;
  std::vector<uint32_t> path;  // sites of the calls that allocated it, the innermost first
};

/// One process image, but for what its threads have counted.
struct ProcessCounts {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  bool is_fork = false;
  bool is_stopped = false;  // reached the limit
  uint64_t start_ns = 0;    // CLOCK_MONOTONIC
  std::string program;
  std::string messages;  // the engine's own
  std::vector<counts_file::Site> sites;
  std::vector<counts_file::MappedRange> mappings;
  std::vector<std::string> paths;  // of the mappings
  /// Data objects by site; empty: none were told apart.
  std::vector<counts_file::SiteObject> site_objects;
  std::vector<CountedObject> objects;                 // row 0: unknown
  std::vector<counts_file::RegionPath> region_paths;  // row 0: outside of all
  bool has_regions = false;
  uint64_t lost_region_paths = 0;
  uint64_t lost_region_parts = 0;
  bool has_objects = false;
  bool has_sizes = false;         // blocks of one place are told apart by them
  bool has_instances = false;     // the largest blocks are objects of their own
  uint64_t blocks_not_apart = 0;  // then: all others
  bool has_allocators = false;
  uint64_t unseen_allocations = 0;
  uint64_t lost_ranges = 0;                        // that the program marked
  std::vector<counts_file::SampledMisses> misses;  // per site; empty: all sets were simulated
  uint32_t sample_classes = 0;                     // of them
  uint32_t sample_weight = 1;                      // what a miss in a drawn set stands for
  /// With locality, by group of sets: accesses since the sample began, and the group's stratum.
  std::vector<uint64_t> sampled_accesses;
  std::vector<uint8_t> strata;
  std::vector<int32_t> displacements;  // of direct branches, by site
  uint64_t clock_ticks = 0;            // of all cores' clocks: the sum of `ticks`
  uint64_t estimated_ticks = 0;        // of the whole run, roughly; the same without windows
  uint64_t lost_windows = 0;           // of threads
  uint64_t system_calls = 0;
  uint64_t system_call_ns = 0;
  uint64_t outside_instructions = 0;  // of --roi, or skipped: not in any count
  uint64_t native_execs = 0;
  uint64_t uncounted_blocks = 0;
  uint64_t uncounted_cores = 0;
  uint64_t threads_begun = 0;
  uint32_t threads = 0;         // that ran any instruction, by number of core
  bool is_interleaved = false;  // they took turns by simulated time
};

/// The name of those that have no row of their own.
inline constexpr const char* kOtherThreads = "other threads";

/// What one thread has counted, or several together.
struct ThreadCounts {
  /// Where: in an OpenMP construct, or waiting there. A thread has several, then.
  struct RegionRow {
    uint32_t path = 0;  // row of ProcessCounts::region_paths; 0: outside of all
    bool is_waiting = false;
    uint64_t executions = 0;
    uint64_t pieces = 0;
  };
  RegionRow region{};
  uint32_t number = 0;  // in the order of their beginning; counts_file::kThreadsApart: all others
  uint32_t tid = 0;     // 0: several, or not known
  std::string name;
  std::vector<uint32_t> ran;         // sites that have executions, in no order
  std::vector<uint32_t> at_objects;  // sites of data objects that were accessed, in no order
  // One value for each site:
  std::vector<uint64_t> executions;
  std::vector<counts_file::SiteCounts> counts;
  std::vector<counts_file::CertainMisses> certain;  // with a sample of sets; else empty
  /// The variances of loads and stores at data objects, likewise: which object is estimated for
  /// some.
  struct AccessVariance {
    double loads = 0;
    double stores = 0;
  };
  std::vector<AccessVariance> access_variance;
  std::vector<simulate::SiteTicks> ticks;  // with those of blocks; empty: no cycles were modelled
  std::vector<simulate::ReplayTicks> replays;  // as `ticks`, of sampled stretches
  std::vector<counts_file::Target> targets;    // of indirect branches; each pair once
  /// Executions in the beginning, which a run in windows measures whole, by site.
  std::vector<uint64_t> beginning;
  std::vector<bool> is_not_covered;  // likewise; its cycles are not known
  uint64_t other_targets = 0;        // branches that are in no row of them
};

/// A counts file whose tables are read and checked; what threads have counted is read when it is
/// asked for, thread by thread, as it may be much.
class CountsFile {
 public:
  /// The descriptor must stay open.
  /// Errors: not a counts file of this version, numbers that contradict each other.
  static Result<CountsFile> read(int fd, std::string name);

  [[nodiscard]] const ProcessCounts& process() const { return process_; }
  /// Calls visit() for each thread that has run, in the order of their beginning; with regions once
  /// more for each that a thread was in, after all threads.
  /// `estimate`: with windows, makes what is modelled, of which the thread has the beginning, that
  /// of the whole run, before what follows from executions is added.
  /// Errors: the file is shorter than it says.
  Result<void> visit_threads(const std::function<void(const ThreadCounts&)>& visit,
                             const std::function<void(ThreadCounts&)>& estimate = nullptr) const;

  /// What was measured in windows; none if all was modelled.
  [[nodiscard]] const counting::WindowsFile& windows() const { return windows_; }
  [[nodiscard]] bool has_windows() const { return has_windows_; }
  [[nodiscard]] size_t count_blocks() const { return blocks_.size(); }
  /// The sites of a block, in the order of execution.
  [[nodiscard]] std::span<const uint32_t> sites_of(uint32_t block) const {
    return std::span(block_sites_).subspan(blocks_[block].first, blocks_[block].sites);
  }

 private:
  CountsFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  int fd_;
  std::string name_;
  ProcessCounts process_;
  bool has_cycles_ = false;
  bool has_windows_ = false;
  counting::WindowsFile windows_;
  uint32_t cores_ = 0;
  std::vector<counts_file::Block> blocks_;
  std::vector<uint32_t> block_sites_;
};

/// The little that is asked while the program runs.
struct CountsSummary {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint64_t start_ns = 0;
  bool is_fork = false;
  bool has_made_code = false;    // runs code that is in no file
  uint64_t executions = 0;       // of instructions; each round of a string instruction is one
  uint64_t instructions = 0;     // rounds that only go on are none
  uint64_t estimated_ticks = 0;  // of all cores' clocks; with windows roughly
  std::vector<counts_file::MappedRange> mappings;
  std::vector<std::string> paths;
};
Result<CountsSummary> read_counts_summary(int fd, const std::string& name);

}  // namespace culprit
