#pragma once

// The host's end of the shim's rings (guest/protocol.h): finds the files that the
// threads of the program make in a folder, reads them while they are written, and
// hands their records over in the order of time.
//
// The files belong to the profiled program, so nothing in them is trusted, and
// they are read with pread(): a mapping could be cut short under us.

#include <cstddef>
#include <cstdint>
#include <list>
#include <set>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "collect/timer/guest/protocol.h"
#include "recording/shared_folder.h"

namespace culprit {

/// Sums over all rings, those that are gone included.
struct TimerTotals {
  uint64_t rings = 0;
  uint64_t samples = 0;
  uint64_t lost_samples = 0;
  uint64_t lost_records = 0;
  uint64_t merged_samples = 0;
  uint64_t kernel_ns = 0;
  uint64_t cut_stacks = 0;
  uint64_t unfollowed = 0;     // programs started without the shim
  uint64_t sandboxed = 0;      // threads that may make no system calls any more
  uint64_t without_timer = 0;  // threads
  int timer_errno = 0;         // why; of one of them
  uint64_t damaged = 0;        // rings that broke the protocol; left at that point
};

/// A record of a ring: whole, its size checked, nothing else.
struct TimerRecord {
  uint64_t time_ns = 0;
  uint64_t sequence = 0;         // as read: keeps a thread's order where times are equal
  std::vector<std::byte> bytes;  // from its perf_event_header on
};

class TimerRings {
 public:
  /// Makes the folder, in memory where that is possible.
  static Result<TimerRings> make(bool with_stacks);

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

  /// The command: its beginning is known. Other processes that appear by exec alone (after
  /// vfork() or posix_spawn()) get a FORK record, and those that are gone an EXIT record.
  void expect(pid_t command) { processes_.insert(static_cast<uint32_t>(command)); }

  /// Reads all rings; records older than the previous call come out, in order of time.
  std::vector<TimerRecord> read(uint64_t now_ns);
  /// The last call: all that is left.
  std::vector<TimerRecord> read_rest();

  /// Tells all threads to stop their timers.
  void stop();

  [[nodiscard]] TimerTotals totals() const;

 private:
  struct Ring {
    Fd fd;
    uint64_t tail = 0;
    culprit_ring header{};
    bool ended = false;
    bool process_ended = false;
  };

  TimerRings(SharedFolder folder, bool with_stacks);
  void open_new();
  bool open_ring(const std::string& path, std::vector<Ring>& fresh);
  void adopt(Ring ring);
  void drain(Ring& ring);
  void add_task_record(uint32_t type, const culprit_ring& header, uint64_t time_ns);
  bool take_records(std::span<const std::byte> bytes);
  void drop_ended(uint64_t now_ns);
  static void add_totals(const culprit_ring& header, TimerTotals& totals);
  std::vector<TimerRecord> release(uint64_t before_ns);

  SharedFolder folder_;
  uint64_t data_bytes_ = 0;
  std::set<uint32_t> processes_;  // that have begun and not ended
  std::list<Ring> rings_;
  std::vector<TimerRecord> waiting_;
  uint64_t next_sequence_ = 0;
  uint64_t previous_read_ns_ = 0;
  TimerTotals gone_;
};

}  // namespace culprit
