#pragma once

// Bytes of one event record → Record. Sizes inside the record are checked against
// its end, never trusted; a record that contradicts itself is an Error (and the
// caller counts it as damaged and goes on with the next).

#include <optional>

#include "base/result.h"
#include "records/record.h"
#include "records/record_layout.h"

namespace culprit {

/// The header every record begins with, and its whole size.
struct RecordHeader {
  static constexpr size_t kBytes = 8;
  uint32_t type = 0;
  uint16_t misc = 0;
  uint16_t size = 0;
};

/// PERF_RECORD_MISC_CPUMODE of a header's misc.
Mode to_mode(uint16_t misc);

/// The header at the front of `bytes`; an error if it, or what it announces, is not all there.
Result<RecordHeader> parse_header(std::span<const std::byte> bytes, std::endian order);

/// `bytes` is one whole record, header included. Kinds nothing knows become UnknownRecord.
Result<Record> parse_record(std::span<const std::byte> bytes, const RecordLayout& layout);
/// Parses into a record that is there already, which is quicker for millions of them.
Result<void> parse_record(std::span<const std::byte> bytes, const RecordLayout& layout,
                          Record& record);

/// Reads only when it was made, which is what merging in time order needs. nullopt: it does not
/// say.
std::optional<uint64_t> find_record_time(std::span<const std::byte> bytes,
                                         const RecordLayout& layout);

}  // namespace culprit
