#include "records/parse_record.h"

#include <array>

#include "records/body_parsers.h"

namespace culprit {

namespace {

/// The parser of each PERF_RECORD_* but SAMPLE. Kinds without a parser become UnknownRecord.
constexpr auto kParsers = [] {
  std::array<BodyParser, PERF_RECORD_CGROUP + 1> parsers{};
  parsers[PERF_RECORD_MMAP] = parse_mmap;
  parsers[PERF_RECORD_LOST] = parse_lost;
  parsers[PERF_RECORD_COMM] = parse_comm;
  parsers[PERF_RECORD_EXIT] = parse_exit;
  parsers[PERF_RECORD_THROTTLE] = parse_throttle;
  parsers[PERF_RECORD_UNTHROTTLE] = parse_throttle;
  parsers[PERF_RECORD_FORK] = parse_fork;
  parsers[PERF_RECORD_READ] = parse_read;
  parsers[PERF_RECORD_MMAP2] = parse_mmap2;
  parsers[PERF_RECORD_LOST_SAMPLES] = parse_lost_samples;
  parsers[PERF_RECORD_SWITCH] = parse_switch;
  parsers[PERF_RECORD_SWITCH_CPU_WIDE] = parse_switch_cpu_wide;
  parsers[PERF_RECORD_NAMESPACES] = parse_namespaces;
  parsers[PERF_RECORD_KSYMBOL] = parse_ksymbol;
  parsers[PERF_RECORD_CGROUP] = parse_cgroup;
  return parsers;
}();

Result<RecordOrigin> parse_trailer(ByteReader in, uint64_t sample_type) {
  RecordOrigin origin;
  if ((sample_type & PERF_SAMPLE_TID) != 0) {
    ASSIGN_OR_RETURN(origin.pid, in.take<uint32_t>());
    ASSIGN_OR_RETURN(origin.tid, in.take<uint32_t>());
  }
  if ((sample_type & PERF_SAMPLE_TIME) != 0) {
    ASSIGN_OR_RETURN(origin.time_ns, in.take<uint64_t>());
  }
  if ((sample_type & PERF_SAMPLE_ID) != 0) {
    ASSIGN_OR_RETURN(origin.id, in.take<uint64_t>());
  }
  if ((sample_type & PERF_SAMPLE_STREAM_ID) != 0) {
    ASSIGN_OR_RETURN(origin.stream_id, in.take<uint64_t>());
  }
  if ((sample_type & PERF_SAMPLE_CPU) != 0) {
    ASSIGN_OR_RETURN(origin.cpu, in.take<uint32_t>());
    RETURN_IF_ERROR(in.take<uint32_t>());
  }
  if ((sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
    ASSIGN_OR_RETURN(origin.id, in.take<uint64_t>());
  }
  return origin;
}

Error too_small(const RecordHeader& header) {
  return Error{"record of type " + std::to_string(header.type) + " and " +
               std::to_string(header.size) + " bytes has no room for its trailer"};
}

}  // namespace

Result<RecordHeader> parse_header(std::span<const std::byte> bytes, std::endian order) {
  ByteReader in(bytes, order);
  RecordHeader header;
  ASSIGN_OR_RETURN(header.type, in.take<uint32_t>());
  ASSIGN_OR_RETURN(header.misc, in.take<uint16_t>());
  ASSIGN_OR_RETURN(header.size, in.take<uint16_t>());
  if (header.size < RecordHeader::kBytes || header.size > bytes.size()) {
    return Error{"record of type " + std::to_string(header.type) + " says " +
                 std::to_string(header.size) + " bytes where " + std::to_string(bytes.size()) +
                 " are left"};
  }
  return header;
}

Result<Record> parse_record(std::span<const std::byte> bytes, const RecordLayout& layout) {
  Record record;
  RETURN_IF_ERROR(parse_record(bytes, layout, record));
  return record;
}

Result<void> parse_record(std::span<const std::byte> bytes, const RecordLayout& layout,
                          Record& record) {
  ASSIGN_OR_RETURN(const RecordHeader header, parse_header(bytes, layout.order));
  bytes = bytes.first(header.size);
  std::span<const std::byte> body = bytes.subspan(RecordHeader::kBytes);
  record.origin = {};
  if (header.type == PERF_RECORD_SAMPLE) {
    BodyInput input{ByteReader(body, layout.order), header, layout, record.origin};
    return parse_sample(input, record.body.emplace<SampleRecord>());
  }

  const size_t trailer_bytes = compute_trailer_size(layout);
  if (trailer_bytes > body.size()) return too_small(header);
  if (trailer_bytes != 0) {
    ASSIGN_OR_RETURN(
        record.origin,
        parse_trailer(ByteReader(body.last(trailer_bytes), layout.order), layout.sample_type));
  }
  const BodyParser parser = header.type < kParsers.size() ? kParsers[header.type] : nullptr;
  if (parser == nullptr) {
    record.body = UnknownRecord{header.type};
    return {};
  }
  BodyInput input{ByteReader(body.first(body.size() - trailer_bytes), layout.order), header, layout,
                  record.origin};
  ASSIGN_OR_RETURN(record.body, parser(input));
  return {};
}

std::optional<uint64_t> find_record_time(std::span<const std::byte> bytes,
                                         const RecordLayout& layout) {
  if ((layout.sample_type & PERF_SAMPLE_TIME) == 0) return std::nullopt;
  const Result<RecordHeader> header = parse_header(bytes, layout.order);
  if (!header) return std::nullopt;
  const auto bytes_if = [&](uint64_t bit) -> size_t {
    return (layout.sample_type & bit) != 0 ? sizeof(uint64_t) : 0;
  };
  size_t at = RecordHeader::kBytes;
  if (header->type == PERF_RECORD_SAMPLE) {
    at += bytes_if(PERF_SAMPLE_IDENTIFIER) + bytes_if(PERF_SAMPLE_IP) + bytes_if(PERF_SAMPLE_TID);
  } else {
    const size_t trailer_bytes = compute_trailer_size(layout);
    if (trailer_bytes == 0 || trailer_bytes > header->size - at) return std::nullopt;
    at = header->size - trailer_bytes + bytes_if(PERF_SAMPLE_TID);
  }
  if (at > header->size) return std::nullopt;
  Result<uint64_t> time =
      ByteReader(bytes.first(header->size).subspan(at), layout.order).take<uint64_t>();
  if (!time) return std::nullopt;
  return *time;
}

}  // namespace culprit
