#include "records/record_layout.h"

#include <bit>
#include <linux/perf_event.h>

namespace culprit {

size_t compute_trailer_size(const RecordLayout& layout) {
  if (!layout.sample_id_all) return 0;
  constexpr uint64_t kInTrailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  return sizeof(uint64_t) * static_cast<size_t>(std::popcount(layout.sample_type & kInTrailer));
}

}  // namespace culprit
