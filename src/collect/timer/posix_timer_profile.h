#pragma once

// The records of the timer shim on their way into a Profile: decoded by the
// layout that guest/protocol.h fixes, those before the delay left out, the rest
// processed as the kernel's own are.

#include <cstdint>
#include <sys/types.h>

#include "collect/stream/process_stream.h"
#include "collect/timer/posix_timer.h"
#include "collect/timer/posix_timer_rings.h"
#include "records/record_layout.h"

namespace culprit {

class TimerProfile {
 public:
  explicit TimerProfile(const TimerOptions& options);

  void follow(pid_t command) { processor_.follow_command(command); }
  /// Samples from before `now_ns` are left out (--delay); mappings and names are kept.
  void begin(uint64_t now_ns) { first_sample_ns_ = now_ns; }
  /// One record; what is wrong with it is counted in the ledger.
  void take(const TimerRecord& record);

  SampleProcessor& processor() { return processor_; }
  ProfileBuilder& builder() { return processor_.builder(); }
  /// CPU time that the samples stand for, those before begin() included.
  [[nodiscard]] uint64_t seen_ns() const { return seen_ns_; }

 private:
  SampleProcessor processor_;
  RecordLayout layout_;
  uint64_t first_sample_ns_ = UINT64_MAX;
  uint64_t seen_ns_ = 0;
};

}  // namespace culprit
