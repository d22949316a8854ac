// What is where: files mapped into processes, and kernel code made at run time.

#include <sys/mman.h>

#include "records/body_parsers.h"
#include "records/hex.h"

namespace culprit {

namespace {

Result<MmapRecord> parse_place(BodyInput& input) {
  MmapRecord map;
  ASSIGN_OR_RETURN(map.pid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(map.tid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(const uint64_t start, input.in.take<uint64_t>());
  ASSIGN_OR_RETURN(map.length, input.in.take<uint64_t>());
  ASSIGN_OR_RETURN(map.file_offset, input.in.take<uint64_t>());
  map.start = RunAddress(start);
  map.mode = to_mode(input.header.misc);
  return map;
}

/// The 24 bytes that are either an inode's identity or a build-id.
Result<void> parse_identity(BodyInput& input, MmapRecord& map) {
  if ((input.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) == 0) {
    ASSIGN_OR_RETURN(map.device_major, input.in.take<uint32_t>());
    ASSIGN_OR_RETURN(map.device_minor, input.in.take<uint32_t>());
    ASSIGN_OR_RETURN(map.inode, input.in.take<uint64_t>());
    RETURN_IF_ERROR(input.in.take<uint64_t>());  // inode generation
    return {};
  }
  constexpr size_t kLongestBuildId = 20;
  ASSIGN_OR_RETURN(const uint8_t size, input.in.take<uint8_t>());
  RETURN_IF_ERROR(input.in.take_bytes(3));  // reserved
  ASSIGN_OR_RETURN(const auto build_id, input.in.take_bytes(kLongestBuildId));
  if (size > kLongestBuildId) {
    return Error{"an MMAP2 record has a build-id of " + std::to_string(size) + " bytes"};
  }
  map.build_id = format_hex(build_id.first(size));
  return {};
}

}  // namespace

Result<RecordBody> parse_mmap(BodyInput& input) {
  ASSIGN_OR_RETURN(MmapRecord map, parse_place(input));
  map.executable = (input.header.misc & PERF_RECORD_MISC_MMAP_DATA) == 0;
  map.path = input.in.take_string();
  return map;
}

Result<RecordBody> parse_mmap2(BodyInput& input) {
  ASSIGN_OR_RETURN(MmapRecord map, parse_place(input));
  RETURN_IF_ERROR(parse_identity(input, map));
  ASSIGN_OR_RETURN(const uint32_t protection, input.in.take<uint32_t>());
  RETURN_IF_ERROR(input.in.take<uint32_t>());  // flags
  map.executable = (protection & PROT_EXEC) != 0;
  map.path = input.in.take_string();
  return map;
}

Result<RecordBody> parse_ksymbol(BodyInput& input) {
  KsymbolRecord symbol;
  ASSIGN_OR_RETURN(const uint64_t start, input.in.take<uint64_t>());
  ASSIGN_OR_RETURN(symbol.length, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(symbol.type, input.in.take<uint16_t>());
  ASSIGN_OR_RETURN(const uint16_t flags, input.in.take<uint16_t>());
  symbol.start = RunAddress(start);
  symbol.unregistered = (flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  symbol.name = input.in.take_string();
  return symbol;
}

}  // namespace culprit
