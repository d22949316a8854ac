#pragma once

// RecordLayout: what of an event's perf_event_attr decides how its records are
// laid out (event_attr.h reads it from an attr's bytes).

#include <bit>
#include <cstddef>
#include <cstdint>

namespace culprit {

struct RecordLayout {
  uint64_t sample_type = 0;
  uint64_t read_format = 0;
  uint64_t branch_sample_type = 0;
  uint64_t user_registers = 0;  // masks
  uint64_t interrupted_registers = 0;
  bool sample_id_all = false;
  std::endian order = std::endian::native;
};

/// Bytes of the sample_id trailer that sample_id_all puts at the end of each record.
size_t compute_trailer_size(const RecordLayout& layout);

}  // namespace culprit
