#pragma once

// OffCpuTime: how long each task was off its CPU, and where it was when it left.
//
//     sample of context-switches   task 7 leaves in read()        at 10.0 ms
//     SWITCH out                   ... of its own will, or preempted
//     SWITCH in                    task 7 is back                 at 14.5 ms  → 4.5 ms in read()
//
// Each switch is seen, so that these times are counted and not sampled. A wait ends when the task
// runs again: from the moment it could run, it waits for a CPU, which switches alone do not tell.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "follow/record_follower.h"
#include "model/builder.h"

namespace culprit {

/// Rows of the two events that add_off_cpu_events() appends to a profile.
struct OffCpuEvents {
  EventId waiting;    // "off-cpu": the task left of its own will
  EventId preempted;  // "preempted": it could have run on
};

void add_off_cpu_events(ProfileBuilder& builder);

/// Times are CLOCK_MONOTONIC [ns], tasks are thread ids.
class OffCpuTime {
 public:
  explicit OffCpuTime(const OffCpuEvents& events) : events_(events) {}

  /// The task leaves its CPU; `place` says where and when.
  void leave(uint32_t tid, PlacedSample place);
  /// How it left.
  void confirm(uint32_t tid, bool preempted);
  /// It is back: what is to be counted. Nothing: nobody has seen it leave.
  std::optional<PlacedSample> enter(uint32_t tid, uint64_t now_ns);

  /// A task of this id begins; one ends, and will leave its CPU for good.
  void begin(uint32_t tid) { exited_.erase(tid); }
  void mark_exited(uint32_t tid);

  /// The waits that go on, as far as they have come.
  std::vector<PlacedSample> end(uint64_t now_ns);

  /// Waits whose end was lost with its record.
  [[nodiscard]] uint64_t lost_ends() const { return lost_ends_; }

 private:
  struct Wait {
    PlacedSample place;
    bool preempted = false;
  };

  [[nodiscard]] PlacedSample measure(Wait wait, uint64_t now_ns) const;

  OffCpuEvents events_;
  std::unordered_map<uint32_t, Wait> waits_;  // by thread id
  std::unordered_set<uint32_t> exited_;
  uint64_t lost_ends_ = 0;
};

}  // namespace culprit
