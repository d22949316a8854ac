#include "records/event_attr.h"

#include <linux/perf_event.h>

#include "base/bytes.h"

namespace culprit {

namespace {

// Where perf_event_attr has what (linux/perf_event.h); fields only ever were added at its end.
constexpr size_t kTypeOffset = 0;
constexpr size_t kSizeOffset = 4;
constexpr size_t kConfigOffset = 8;
constexpr size_t kPeriodOffset = 16;
constexpr size_t kSampleTypeOffset = 24;
constexpr size_t kReadFormatOffset = 32;
constexpr size_t kFlagsOffset = 40;
constexpr size_t kConfig1Offset = 56;
constexpr size_t kConfig2Offset = 64;
constexpr size_t kBranchTypeOffset = 72;
constexpr size_t kUserRegistersOffset = 80;
constexpr size_t kInterruptedRegistersOffset = 96;

/// A field of the attr; 0 where this attr is too short to have it.
template <class T>
T field_at(std::span<const std::byte> attr, size_t offset, std::endian order) {
  if (offset > attr.size()) return 0;
  return ByteReader(attr.subspan(offset), order).take<T>().value_or(0);
}

/// The flag bit-field counts from the low end on little-endian machines, from the high end on
/// big-endian ones.
struct Flags {
  uint64_t bits = 0;
  std::endian order = std::endian::native;

  [[nodiscard]] bool has(unsigned bit) const {
    return (bits >> (order == std::endian::little ? bit : 63 - bit) & 1) != 0;
  }
  [[nodiscard]] uint32_t two_bits(unsigned bit) const {
    return static_cast<uint32_t>(bits >> (order == std::endian::little ? bit : 62 - bit) & 3);
  }
};

constexpr unsigned kExcludeUserBit = 4;
constexpr unsigned kExcludeKernelBit = 5;
constexpr unsigned kExcludeHypervisorBit = 6;
constexpr unsigned kFrequencyBit = 10;
constexpr unsigned kPreciseBits = 15;
constexpr unsigned kSampleIdAllBit = 18;
constexpr unsigned kExcludeHostBit = 19;
constexpr unsigned kExcludeGuestBit = 20;

}  // namespace

Result<uint32_t> parse_attr_size(std::span<const std::byte> attr, std::endian order) {
  if (attr.size() < PERF_ATTR_SIZE_VER0) {
    return Error{"event attribute of " + std::to_string(attr.size()) + " bytes, at least " +
                 std::to_string(PERF_ATTR_SIZE_VER0) + " expected"};
  }
  const uint32_t size = field_at<uint32_t>(attr, kSizeOffset, order);
  return size == 0 ? uint32_t{PERF_ATTR_SIZE_VER0} : size;
}

Engine find_engine(uint32_t type, uint64_t config) {
  switch (type) {
    case PERF_TYPE_SOFTWARE:
      return config <= PERF_COUNT_SW_TASK_CLOCK ? Engine::timer : Engine::software;
    case PERF_TYPE_TRACEPOINT:
      return Engine::tracepoint;
    case PERF_TYPE_BREAKPOINT:
      return Engine::breakpoint;
    default:
      return Engine::pmu;
  }
}

Result<EventAttr> parse_event_attr(std::span<const std::byte> attr, std::endian order) {
  RETURN_IF_ERROR(parse_attr_size(attr, order));
  const auto number = [&](size_t offset) { return field_at<uint64_t>(attr, offset, order); };
  const Flags flags{number(kFlagsOffset), order};
  EventAttr event;
  event.type = field_at<uint32_t>(attr, kTypeOffset, order);
  event.config = number(kConfigOffset);
  event.config1 = number(kConfig1Offset);
  event.config2 = number(kConfig2Offset);
  event.sample_period = number(kPeriodOffset);
  event.is_frequency = flags.has(kFrequencyBit);
  event.exclude_user = flags.has(kExcludeUserBit);
  event.exclude_kernel = flags.has(kExcludeKernelBit);
  event.exclude_hypervisor = flags.has(kExcludeHypervisorBit);
  event.exclude_host = flags.has(kExcludeHostBit);
  event.exclude_guest = flags.has(kExcludeGuestBit);
  event.precise_level = flags.two_bits(kPreciseBits);
  event.layout.order = order;
  event.layout.sample_type = number(kSampleTypeOffset);
  event.layout.read_format = number(kReadFormatOffset);
  event.layout.sample_id_all = flags.has(kSampleIdAllBit);
  event.layout.branch_sample_type = number(kBranchTypeOffset);
  event.layout.user_registers = number(kUserRegistersOffset);
  event.layout.interrupted_registers = number(kInterruptedRegistersOffset);
  return event;
}

}  // namespace culprit
