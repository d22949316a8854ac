#include "records/plain_sample.h"

#include <linux/perf_event.h>

#include "records/parse_record.h"

namespace culprit {

std::optional<PlainSampleParser> PlainSampleParser::make(const RecordLayout& layout) {
  // The fields come in the order of perf_event_open(2); each takes 8 bytes.
  constexpr uint64_t kFields[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,    PERF_SAMPLE_TID,
                                  PERF_SAMPLE_TIME,       PERF_SAMPLE_ID,    PERF_SAMPLE_STREAM_ID,
                                  PERF_SAMPLE_CPU,        PERF_SAMPLE_PERIOD};
  constexpr uint64_t kNeeded = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  if (layout.order != std::endian::native || (layout.sample_type & kNeeded) != kNeeded) {
    return std::nullopt;
  }
  PlainSampleParser parser;
  size_t at = RecordHeader::kBytes;
  uint64_t known = 0;
  for (const uint64_t field : kFields) {
    known |= field;
    if ((layout.sample_type & field) == 0) continue;
    if (field == PERF_SAMPLE_IP) parser.ip_at_ = at;
    if (field == PERF_SAMPLE_TID) parser.task_at_ = at;
    if (field == PERF_SAMPLE_TIME) parser.time_at_ = at;
    if (field == PERF_SAMPLE_PERIOD) parser.period_at_ = at;
    at += sizeof(uint64_t);
  }
  if ((layout.sample_type & ~known) != 0) return std::nullopt;
  parser.size_bytes_ = at;
  return parser;
}

}  // namespace culprit
