#pragma once

// SampledRegions: which region a sampled thread was in, by what the shim logs in the program.
//
//   thread:   … loop ── critical ────── loop ──── barrier …     changes, with their times
//   samples:       x       x     x        x    x                 each within two changes
//
// A log keeps the last CULPRIT_LOG_CHANGES changes. Those that were overwritten before they were
// taken leave a gap, and samples in it are in a region that is not known. So are all samples of
// programs that did not load the shim.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "collect/regions/region_rows.h"
#include "collect/regions/tick_clock.h"
#include "follow/sample_regions.h"

namespace culprit {

class SampledRegions final : public SampleRegions {
 public:
  /// `folder`: where the shim's files are. `start`: a moment before they began.
  SampledRegions(std::string folder, const ClockMoment& start)
      : folder_(std::move(folder)), start_(start) {}

  void take() override;
  RegionId find(uint32_t pid, uint32_t tid, uint64_t time_ns, const Locate& locate,
                ProfileBuilder& builder) override;
  void exec(uint32_t pid, uint64_t time_ns) override;
  void exit(uint32_t pid, uint64_t time_ns) override;
  void forget_before(uint64_t time_ns) override;

  /// When the program ended that ran in the process from `start_ticks` on: the process began
  /// another one, or its last thread ended, or, if nobody told, the end of the recording.
  /// Units:  [ticks] of its clock
  [[nodiscard]] uint64_t find_end_ticks(const RegionProcess& process) const;

  /// The rows that samples have been given.
  RegionRows& rows() { return rows_; }

 private:
  struct Program {  // between exec or fork and the next
    std::string name;
    uint32_t pid = 0;
    bool uses_tsc = false;
    bool is_complete = true;  // all its threads have logs
    RegionProcess process;    // as far as it has been read
  };
  struct Change {
    uint64_t time_ns = 0;
    uint32_t program = 0;
    uint16_t path = 0;
    uint16_t state = CULPRIT_STATE_INSIDE;
  };
  struct Log {
    uint64_t taken = 0;  // of its changes
    uint32_t program = 0;
    bool is_damaged = false;
  };
  using Task = std::pair<uint32_t, uint32_t>;  // pid, tid

  void take_programs();
  [[nodiscard]] bool is_loaded(uint32_t pid, uint64_t time_ns) const;
  RegionId find_in_changes(const Task& who, uint64_t time_ns, const Locate& locate,
                           ProfileBuilder& builder);
  void take_log(const std::string& file, Log& log, const ClockMoment& now);
  void add(const Task& task, const Change& change, bool follows_gap);
  RegionId find_row(const Change& change, const Locate& locate, ProfileBuilder& builder);

  std::string folder_;
  ClockMoment start_;
  std::vector<Program> programs_;
  std::map<std::string, uint32_t> program_of_;  // by name
  std::map<std::string, Log> logs_;             // by file
  std::map<Task, std::deque<Change>> changes_;  // ascending
  uint64_t loaded_bytes_ = 0;                   // taken of the file
  std::map<uint32_t, uint64_t> loaded_ns_;      // by pid: when the shim was last loaded
  std::map<uint32_t, uint64_t> exec_ns_;        // likewise, when a program last began
  std::multimap<uint32_t, uint64_t> began_ns_;  // likewise, each of them
  std::map<uint32_t, uint64_t> exit_ns_;        // likewise, when its last thread ended so far
  ClockMoment last_take_;
  RegionRows rows_;
};

}  // namespace culprit
