// SAMPLE and READ: fields in the order in which perf_event_open(2) lists them.

#include <bit>

#include "records/body_parsers.h"

namespace culprit {

namespace {

// Newer than the headers of Debian 12, or of older ones.
constexpr uint64_t kReadFormatLost = 1U << 4;
constexpr uint64_t kBranchCounters = 1U << 19;

Error too_many(const char* what, uint64_t count) {
  return Error{std::string("a sample says it has ") + std::to_string(count) + " " + what};
}

/// One event's value with its optional id and lost count.
Result<ReadValue> take_read_value(ByteReader& in, uint64_t read_format) {
  ReadValue value;
  ASSIGN_OR_RETURN(value.value, in.take<uint64_t>());
  if ((read_format & PERF_FORMAT_ID) != 0) {
    ASSIGN_OR_RETURN(value.id, in.take<uint64_t>());
  }
  if ((read_format & kReadFormatLost) != 0) {
    ASSIGN_OR_RETURN(value.lost, in.take<uint64_t>());
  }
  return value;
}

Result<void> take_read_times(ByteReader& in, uint64_t read_format, ReadFields& read) {
  if ((read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0) {
    ASSIGN_OR_RETURN(read.time_enabled_ns, in.take<uint64_t>());
  }
  if ((read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0) {
    ASSIGN_OR_RETURN(read.time_running_ns, in.take<uint64_t>());
  }
  return {};
}

Result<ReadFields> take_read(ByteReader& in, uint64_t read_format) {
  ReadFields read;
  if ((read_format & PERF_FORMAT_GROUP) != 0) {
    ASSIGN_OR_RETURN(const uint64_t count, in.take<uint64_t>());
    RETURN_IF_ERROR(take_read_times(in, read_format, read));
    if (count > in.remaining() / sizeof(uint64_t)) return too_many("counters", count);
    for (uint64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const ReadValue value, take_read_value(in, read_format));
      read.values.push_back(value);
    }
    return read;
  }
  // A single event puts its times between value and id.
  ReadValue value;
  ASSIGN_OR_RETURN(value.value, in.take<uint64_t>());
  RETURN_IF_ERROR(take_read_times(in, read_format, read));
  if ((read_format & PERF_FORMAT_ID) != 0) {
    ASSIGN_OR_RETURN(value.id, in.take<uint64_t>());
  }
  if ((read_format & kReadFormatLost) != 0) {
    ASSIGN_OR_RETURN(value.lost, in.take<uint64_t>());
  }
  read.values.push_back(value);
  return read;
}

Result<RegisterDump> take_registers(ByteReader& in, uint64_t mask) {
  RegisterDump dump;
  ASSIGN_OR_RETURN(dump.abi, in.take<uint64_t>());
  if (dump.abi == PERF_SAMPLE_REGS_ABI_NONE) return dump;
  dump.mask = mask;
  for (int i = std::popcount(mask); i > 0; --i) {
    ASSIGN_OR_RETURN(const uint64_t value, in.take<uint64_t>());
    dump.values.push_back(value);
  }
  return dump;
}

Result<void> take_place(BodyInput& input, SampleRecord& sample) {
  ByteReader& in = input.in;
  const uint64_t type = input.layout.sample_type;
  RecordOrigin& origin = input.origin;
  if ((type & PERF_SAMPLE_IDENTIFIER) != 0) {
    ASSIGN_OR_RETURN(origin.id, in.take<uint64_t>());
  }
  if ((type & PERF_SAMPLE_IP) != 0) {
    ASSIGN_OR_RETURN(const uint64_t ip, in.take<uint64_t>());
    sample.ip = RunAddress(ip);
  }
  if ((type & PERF_SAMPLE_TID) != 0) {
    ASSIGN_OR_RETURN(origin.pid, in.take<uint32_t>());
    ASSIGN_OR_RETURN(origin.tid, in.take<uint32_t>());
  }
  if ((type & PERF_SAMPLE_TIME) != 0) {
    ASSIGN_OR_RETURN(origin.time_ns, in.take<uint64_t>());
  }
  if ((type & PERF_SAMPLE_ADDR) != 0) {
    ASSIGN_OR_RETURN(sample.data_address, in.take<uint64_t>());
  }
  if ((type & PERF_SAMPLE_ID) != 0) {
    ASSIGN_OR_RETURN(origin.id, in.take<uint64_t>());
  }
  if ((type & PERF_SAMPLE_STREAM_ID) != 0) {
    ASSIGN_OR_RETURN(origin.stream_id, in.take<uint64_t>());
  }
  if ((type & PERF_SAMPLE_CPU) != 0) {
    ASSIGN_OR_RETURN(origin.cpu, in.take<uint32_t>());
    RETURN_IF_ERROR(in.take<uint32_t>());  // reserved
  }
  if ((type & PERF_SAMPLE_PERIOD) != 0) {
    ASSIGN_OR_RETURN(sample.period, in.take<uint64_t>());
  }
  return {};
}

Result<void> take_callchain(ByteReader& in, SampleRecord& sample) {
  ASSIGN_OR_RETURN(const uint64_t count, in.take<uint64_t>());
  if (count > in.remaining() / sizeof(uint64_t)) return too_many("frames", count);
  sample.callchain.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t address, in.take<uint64_t>());
    sample.callchain.push_back(address);
  }
  return {};
}

/// perf_branch_entry's bit-field: mispredicted, predicted, in a transaction, aborted, 16 bits of
/// cycles, type. Big-endian machines count its bits from the high end.
BranchEntry make_branch(uint64_t from, uint64_t to, uint64_t flags, std::endian order) {
  const bool is_little = order == std::endian::little;
  BranchEntry branch{RunAddress(from), RunAddress(to)};
  branch.mispredicted = (flags >> (is_little ? 0 : 63) & 1) != 0;
  branch.predicted = (flags >> (is_little ? 1 : 62) & 1) != 0;
  branch.cycles = static_cast<uint32_t>(flags >> (is_little ? 4 : 44) & 0xffff);
  return branch;
}

Result<void> take_branches(ByteReader& in, const RecordLayout& layout, SampleRecord& sample) {
  ASSIGN_OR_RETURN(const uint64_t count, in.take<uint64_t>());
  if ((layout.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) {
    RETURN_IF_ERROR(in.take<uint64_t>());
  }
  constexpr size_t kEntryBytes = 3 * sizeof(uint64_t);
  if (count > in.remaining() / kEntryBytes) return too_many("branches", count);
  sample.branches.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t from, in.take<uint64_t>());
    ASSIGN_OR_RETURN(const uint64_t to, in.take<uint64_t>());
    ASSIGN_OR_RETURN(const uint64_t flags, in.take<uint64_t>());
    sample.branches.push_back(make_branch(from, to, flags, layout.order));
  }
  if ((layout.branch_sample_type & kBranchCounters) != 0) {
    RETURN_IF_ERROR(in.take_bytes(count * sizeof(uint64_t)));
  }
  return {};
}

Result<void> take_user_stack(ByteReader& in, SampleRecord& sample) {
  ASSIGN_OR_RETURN(const uint64_t size, in.take<uint64_t>());
  if (size == 0) return {};  // then there is no dynamic size either
  ASSIGN_OR_RETURN(sample.user_stack, in.take_bytes(size));
  ASSIGN_OR_RETURN(const uint64_t filled, in.take<uint64_t>());
  if (filled > size) return too_many("bytes of stack", filled);
  sample.user_stack = sample.user_stack.first(filled);
  return {};
}

Result<void> take_history(BodyInput& input, SampleRecord& sample) {
  ByteReader& in = input.in;
  const RecordLayout& layout = input.layout;
  if ((layout.sample_type & PERF_SAMPLE_READ) != 0) {
    ASSIGN_OR_RETURN(sample.read, take_read(in, layout.read_format));
  }
  if ((layout.sample_type & PERF_SAMPLE_CALLCHAIN) != 0) {
    RETURN_IF_ERROR(take_callchain(in, sample));
  }
  if ((layout.sample_type & PERF_SAMPLE_RAW) != 0) {
    ASSIGN_OR_RETURN(const uint32_t size, in.take<uint32_t>());
    ASSIGN_OR_RETURN(sample.raw, in.take_bytes(size));
  }
  if ((layout.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0) {
    RETURN_IF_ERROR(take_branches(in, layout, sample));
  }
  if ((layout.sample_type & PERF_SAMPLE_REGS_USER) != 0) {
    ASSIGN_OR_RETURN(sample.user_registers, take_registers(in, layout.user_registers));
  }
  if ((layout.sample_type & PERF_SAMPLE_STACK_USER) != 0) {
    RETURN_IF_ERROR(take_user_stack(in, sample));
  }
  return {};
}

Result<void> take_memory_facts(BodyInput& input, SampleRecord& sample) {
  ByteReader& in = input.in;
  const uint64_t type = input.layout.sample_type;
  const auto take_if = [&](uint64_t bits, uint64_t& field) -> Result<void> {
    if ((type & bits) == 0) return {};
    ASSIGN_OR_RETURN(field, in.take<uint64_t>());
    return {};
  };
  RETURN_IF_ERROR(take_if(PERF_SAMPLE_WEIGHT_TYPE, sample.weight));
  if ((type & PERF_SAMPLE_WEIGHT_STRUCT) != 0) {
    sample.instruction_weight = sample.weight >> 32 & 0xffff;
    sample.weight &= 0xffffffff;
  }
  RETURN_IF_ERROR(take_if(PERF_SAMPLE_DATA_SRC, sample.data_source));
  RETURN_IF_ERROR(take_if(PERF_SAMPLE_TRANSACTION, sample.transaction));
  if ((type & PERF_SAMPLE_REGS_INTR) != 0) {
    ASSIGN_OR_RETURN(sample.interrupted_registers,
                     take_registers(in, input.layout.interrupted_registers));
  }
  RETURN_IF_ERROR(take_if(PERF_SAMPLE_PHYS_ADDR, sample.physical_address));
  RETURN_IF_ERROR(take_if(PERF_SAMPLE_CGROUP, sample.cgroup));
  RETURN_IF_ERROR(take_if(PERF_SAMPLE_DATA_PAGE_SIZE, sample.data_page_size));
  RETURN_IF_ERROR(take_if(PERF_SAMPLE_CODE_PAGE_SIZE, sample.code_page_size));
  if ((type & PERF_SAMPLE_AUX) != 0) {
    ASSIGN_OR_RETURN(const uint64_t size, in.take<uint64_t>());
    ASSIGN_OR_RETURN(sample.aux, in.take_bytes(size));
  }
  return {};
}

}  // namespace

Mode to_mode(uint16_t misc) {
  switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_KERNEL:
      return Mode::kernel;
    case PERF_RECORD_MISC_USER:
      return Mode::user;
    case PERF_RECORD_MISC_HYPERVISOR:
      return Mode::hypervisor;
    case PERF_RECORD_MISC_GUEST_KERNEL:
      return Mode::guest_kernel;
    case PERF_RECORD_MISC_GUEST_USER:
      return Mode::guest_user;
    default:
      return Mode::all;
  }
}

Result<void> parse_sample(BodyInput& input, SampleRecord& sample) {
  sample.mode = to_mode(input.header.misc);
  sample.exact_ip = (input.header.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
  RETURN_IF_ERROR(take_place(input, sample));
  RETURN_IF_ERROR(take_history(input, sample));
  return take_memory_facts(input, sample);
}

Result<RecordBody> parse_read(BodyInput& input) {
  ReadRecord record;
  ASSIGN_OR_RETURN(record.pid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(record.tid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(record.read, take_read(input.in, input.layout.read_format));
  return record;
}

}  // namespace culprit
