// What is missing: records and samples that did not fit, sampling that was held back.

#include "records/body_parsers.h"

namespace culprit {

Result<RecordBody> parse_lost(BodyInput& input) {
  LostRecord lost;
  ASSIGN_OR_RETURN(lost.id, input.in.take<uint64_t>());
  ASSIGN_OR_RETURN(lost.lost, input.in.take<uint64_t>());
  return lost;
}

Result<RecordBody> parse_lost_samples(BodyInput& input) {
  LostSamplesRecord lost;
  ASSIGN_OR_RETURN(lost.lost, input.in.take<uint64_t>());
  return lost;
}

Result<RecordBody> parse_throttle(BodyInput& input) {
  ThrottleRecord throttle;
  throttle.throttled = input.header.type == PERF_RECORD_THROTTLE;
  ASSIGN_OR_RETURN(throttle.time_ns, input.in.take<uint64_t>());
  ASSIGN_OR_RETURN(throttle.id, input.in.take<uint64_t>());
  return throttle;
}

}  // namespace culprit
