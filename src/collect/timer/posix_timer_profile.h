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

  /// Samples older than `first_sample_ns` are left out (--delay); mappings and
  /// names are kept.
  void begin(pid_t command, uint64_t first_sample_ns);
  /// One record; what is wrong with it is counted in the ledger.
  void take(const TimerRecord& record);

  /// Hands what is new to the sink, and forgets its counts.
  Result<void> flush(const RecordSink& sink) { return processor_.flush(sink); }
  /// Gives everything away.
  Recording finish() { return processor_.finish(); }

  ProfileBuilder& builder() { return processor_.builder(); }
  [[nodiscard]] uint64_t samples() const { return processor_.samples(); }
  /// CPU time that the samples stand for, those before begin() included.
  [[nodiscard]] uint64_t seen_ns() const { return seen_ns_; }

 private:
  SampleProcessor processor_;
  RecordLayout layout_;
  uint64_t first_sample_ns_ = 0;
  uint64_t seen_ns_ = 0;
};

}  // namespace culprit
