#pragma once

// RecordLayout: what of an event's perf_event_attr decides how its records are
// laid out. parse_layout() reads it from an attr of any size (older and newer
// kernels have shorter and longer ones) in either byte order.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

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

/// `attr` is a perf_event_attr, at least as long as its first version (64 bytes).
Result<RecordLayout> parse_layout(std::span<const std::byte> attr, std::endian order);

/// Bytes of the sample_id trailer that sample_id_all puts at the end of each record.
size_t compute_trailer_size(const RecordLayout& layout);

}  // namespace culprit
