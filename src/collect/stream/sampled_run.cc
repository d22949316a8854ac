#include "collect/stream/sampled_run.h"

#include "base/time.h"
#include "host/clock.h"

namespace culprit {

void SampledRun::measure_clock() {
  bursts_hertz_.push_back(measure_clock_burst());
}

void SampledRun::begin(uint64_t since_start_ns) {
  processor_.builder().begin_time(monotonic_ns() - since_start_ns);
}

Result<void> SampledRun::flush(uint64_t since_start_ns, uint64_t lost) {
  measure_clock();
  ProfileBuilder& builder = processor_.builder();
  builder.profile().machine.clock = estimate_clock(bursts_hertz_);
  builder.run().duration_ns = static_cast<int64_t>(since_start_ns - epoch_began_ns_);
  RETURN_IF_ERROR(processor_.flush(sink_));
  if (progress_) {
    progress_({static_cast<double>(since_start_ns) * 1e-9, processor_.samples(), lost});
  }
  return {};
}

Result<void> SampledRun::end_epoch(uint64_t since_start_ns, uint64_t lost, const Run& next) {
  RETURN_IF_ERROR(flush(since_start_ns, lost));
  epoch_began_ns_ = since_start_ns;
  processor_.begin_run(next);
  begin(0);
  return {};
}

Recording SampledRun::finish(const RunEnd& end) {
  measure_clock();
  Recording recording = processor_.finish();
  recording.profile.machine.clock = estimate_clock(bursts_hertz_);
  end.describe(recording);
  return recording;
}

}  // namespace culprit
