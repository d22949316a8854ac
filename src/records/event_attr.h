#pragma once

// EventAttr: what a perf_event_attr of any size and byte order asks for, as far as a
// reader of its records needs it.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "model/engine.h"
#include "records/record_layout.h"

namespace culprit {

struct EventAttr {
  uint32_t type = 0;
  uint64_t config = 0;
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  uint64_t sample_period = 0;  // or the frequency in Hz
  bool is_frequency = false;
  bool exclude_user = false;
  bool exclude_kernel = false;
  bool exclude_hypervisor = false;
  bool exclude_host = false;
  bool exclude_guest = false;
  uint32_t precise_level = 0;  // of 3
  RecordLayout layout;
};

/// `attr` is at least as long as its first version (64 bytes); what is missing is 0.
Result<EventAttr> parse_event_attr(std::span<const std::byte> attr, std::endian order);

/// What makes an event of a perf_event_attr's type and config: the kernel's clocks, what else its
/// software counts, tracepoints, breakpoints; all others are a PMU's.
Engine find_engine(uint32_t type, uint64_t config);

/// What the attr says of its own size [bytes]; 64 for the first version, which says 0.
Result<uint32_t> parse_attr_size(std::span<const std::byte> attr, std::endian order);

}  // namespace culprit
