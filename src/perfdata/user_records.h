#pragma once

// Records that perf itself writes between the kernel's: their types begin at 64.
// The numbers are perf's file format (tools/perf/Documentation/perf.data-file-format.txt).

#include <cstdint>

namespace culprit {

enum class UserRecord : uint32_t {
  attribute = 64,       // pipe form: an event's attr and its ids
  event_type = 65,      // names of events; obsolete
  tracing_data = 66,    // followed by as many bytes as it says
  build_id = 67,        // of one image
  finished_round = 68,  // what was recorded before the last one is complete
  id_index = 69,
  auxtrace_info = 70,
  auxtrace = 71,  // followed by as many bytes as it says
  auxtrace_error = 72,
  counted = 76,         // perf stat: what a counter has reached
  counting_round = 77,  // perf stat: what was counted before is of one interval, or of the whole
  event_update = 78,    // an event's name, unit or scale
  feature = 80,         // pipe form: a header feature
  compressed = 81,      // zstd, whole record
  compressed2 = 83,     // zstd, as many bytes as it says
};

constexpr uint32_t kFirstUserRecord = 64;

}  // namespace culprit
