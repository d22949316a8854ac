#pragma once

// SampledRun: samples on their way into a file, whoever takes them: what is new goes to the sink
// with the clock that was measured until then, and at the end the whole Recording. Each epoch of
// the loop is a run in the same profile.

#include <cstdint>
#include <vector>

#include "collect/stream/process_stream.h"
#include "recording/recording.h"
#include "recording/run_loop.h"

namespace culprit {

class SampledRun {
 public:
  /// All must outlive it.
  SampledRun(SampleProcessor& processor, const RecordSink& sink, const ProgressSink& progress)
      : processor_(processor), sink_(sink), progress_(progress) {}

  /// A burst of known work tells how fast the CPU's clock runs now.
  void measure_clock();

  /// Samples are of the run from now on, which began `since_start_ns` ago.
  void begin(uint64_t since_start_ns);

  /// Hands on what is new, and says how it goes. `lost`: samples so far.
  Result<void> flush(uint64_t since_start_ns, uint64_t lost);

  /// Hands on the rest of this run and begins `next`. Samples that come out late belong to the
  /// next run: those of the last 20 ms of the kernel's, of the last 100 ms of the shim's.
  Result<void> end_epoch(uint64_t since_start_ns, uint64_t lost, const Run& next);

  /// Gives everything away.
  Recording finish(const RunEnd& end);

 private:
  SampleProcessor& processor_;
  const RecordSink& sink_;
  const ProgressSink& progress_;
  std::vector<double> bursts_hertz_;
  uint64_t epoch_began_ns_ = 0;  // since the start
};

}  // namespace culprit
