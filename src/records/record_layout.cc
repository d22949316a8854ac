#include "records/record_layout.h"

#include <bit>
#include <linux/perf_event.h>

#include "base/bytes.h"

namespace culprit {

namespace {

/// A 64-bit field of the attr; 0 where this attr is too short to have it.
uint64_t field_at(std::span<const std::byte> attr, size_t offset, std::endian order) {
  if (offset > attr.size()) return 0;
  ByteReader in(attr.subspan(offset), order);
  return in.take<uint64_t>().value_or(0);
}

/// The flag bit-field counts from the low end on little-endian machines, from the high end on
/// big-endian ones.
bool has_flag(uint64_t flags, unsigned bit, std::endian order) {
  return (flags >> (order == std::endian::little ? bit : 63 - bit) & 1) != 0;
}

constexpr size_t kSampleTypeOffset = 24;
constexpr size_t kReadFormatOffset = 32;
constexpr size_t kFlagsOffset = 40;
constexpr size_t kBranchTypeOffset = 72;
constexpr size_t kUserRegistersOffset = 80;
constexpr size_t kInterruptedRegistersOffset = 96;
constexpr unsigned kSampleIdAllBit = 18;

}  // namespace

Result<RecordLayout> parse_layout(std::span<const std::byte> attr, std::endian order) {
  if (attr.size() < PERF_ATTR_SIZE_VER0) {
    return Error{"event attribute of " + std::to_string(attr.size()) + " bytes, at least " +
                 std::to_string(PERF_ATTR_SIZE_VER0) + " expected"};
  }
  RecordLayout layout;
  layout.order = order;
  layout.sample_type = field_at(attr, kSampleTypeOffset, order);
  layout.read_format = field_at(attr, kReadFormatOffset, order);
  layout.sample_id_all = has_flag(field_at(attr, kFlagsOffset, order), kSampleIdAllBit, order);
  layout.branch_sample_type = field_at(attr, kBranchTypeOffset, order);
  layout.user_registers = field_at(attr, kUserRegistersOffset, order);
  layout.interrupted_registers = field_at(attr, kInterruptedRegistersOffset, order);
  return layout;
}

size_t compute_trailer_size(const RecordLayout& layout) {
  if (!layout.sample_id_all) return 0;
  constexpr uint64_t kInTrailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  return sizeof(uint64_t) * static_cast<size_t>(std::popcount(layout.sample_type & kInTrailer));
}

}  // namespace culprit
