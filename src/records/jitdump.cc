#include "records/jitdump.h"

#include <cstring>

#include "base/bytes.h"

namespace culprit {

namespace {

constexpr uint32_t kMagic = 0x4A695444;  // "JiTD" as the writer's own integer
constexpr uint32_t kHeaderBytes = 40;
constexpr uint32_t kRecordHeaderBytes = 16;
enum Kind : uint32_t { kLoad = 0, kMove = 1, kDebugInfo = 2, kClose = 3 };

Result<JitRecord> parse_load(ByteReader in, uint64_t time_ns) {
  JitLoad load;
  load.time_ns = time_ns;
  ASSIGN_OR_RETURN(load.pid, in.take<uint32_t>());
  RETURN_IF_ERROR(in.take<uint32_t>());  // tid
  RETURN_IF_ERROR(in.take<uint64_t>());  // vma: the same as the address
  ASSIGN_OR_RETURN(const uint64_t address, in.take<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t size, in.take<uint64_t>());
  ASSIGN_OR_RETURN(load.index, in.take<uint64_t>());
  load.address = RunAddress(address);
  load.name = in.take_string();
  ASSIGN_OR_RETURN(const auto code, in.take_bytes(size));
  load.code.assign(reinterpret_cast<const char*>(code.data()), code.size());
  return load;
}

Result<JitRecord> parse_move(ByteReader in, uint64_t time_ns) {
  JitMove move;
  move.time_ns = time_ns;
  RETURN_IF_ERROR(in.take_bytes(2 * sizeof(uint32_t)));  // pid, tid
  RETURN_IF_ERROR(in.take<uint64_t>());                  // vma
  ASSIGN_OR_RETURN(const uint64_t from, in.take<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t to, in.take<uint64_t>());
  ASSIGN_OR_RETURN(move.size_bytes, in.take<uint64_t>());
  ASSIGN_OR_RETURN(move.index, in.take<uint64_t>());
  move.from = RunAddress(from);
  move.to = RunAddress(to);
  return move;
}

Result<JitRecord> parse_debug_info(ByteReader in, uint64_t time_ns) {
  JitDebugInfo info;
  info.time_ns = time_ns;
  ASSIGN_OR_RETURN(const uint64_t address, in.take<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t count, in.take<uint64_t>());
  info.address = RunAddress(address);
  constexpr size_t kSmallestEntry = 8 + 4 + 4 + 1;
  if (count > in.remaining() / kSmallestEntry) {
    return Error{"a jitdump record says it has " + std::to_string(count) + " lines"};
  }
  for (uint64_t i = 0; i < count; ++i) {
    JitLine line;
    ASSIGN_OR_RETURN(const uint64_t at, in.take<uint64_t>());
    ASSIGN_OR_RETURN(line.line, in.take<uint32_t>());
    RETURN_IF_ERROR(in.take<uint32_t>());  // discriminator
    line.address = RunAddress(at);
    line.file = in.take_string();
    // "\xff": the same file as the line before.
    if (line.file == "\xff" && !info.lines.empty()) line.file = info.lines.back().file;
    info.lines.push_back(std::move(line));
  }
  return info;
}

}  // namespace

Result<JitdumpHeader> parse_jitdump_header(std::span<const std::byte> bytes) {
  JitdumpHeader header;
  ASSIGN_OR_RETURN(const uint32_t magic, ByteReader(bytes).take<uint32_t>());
  constexpr std::endian kOther =
      std::endian::native == std::endian::little ? std::endian::big : std::endian::little;
  if (magic != kMagic) {
    if (magic != __builtin_bswap32(kMagic)) return Error{"not a jitdump: wrong magic number"};
    header.order = kOther;
  }
  ByteReader in(bytes, header.order);
  RETURN_IF_ERROR(in.take<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t version, in.take<uint32_t>());
  ASSIGN_OR_RETURN(header.header_bytes, in.take<uint32_t>());
  ASSIGN_OR_RETURN(header.elf_machine, in.take<uint32_t>());
  RETURN_IF_ERROR(in.take<uint32_t>());
  ASSIGN_OR_RETURN(header.pid, in.take<uint32_t>());
  RETURN_IF_ERROR(in.take<uint64_t>());  // time of creation
  ASSIGN_OR_RETURN(header.flags, in.take<uint64_t>());
  if (version == 0 || version > 2) {
    return Error{"jitdump of unknown version " + std::to_string(version)};
  }
  if (header.header_bytes < kHeaderBytes || header.header_bytes > bytes.size()) {
    return Error{"jitdump with a header of " + std::to_string(header.header_bytes) + " bytes"};
  }
  return header;
}

Result<void> parse_jitdump(std::span<const std::byte> bytes, std::endian order,
                           std::vector<JitRecord>& records, size_t& consumed) {
  consumed = 0;
  while (bytes.size() - consumed >= kRecordHeaderBytes) {
    ByteReader in(bytes.subspan(consumed), order);
    ASSIGN_OR_RETURN(const uint32_t kind, in.take<uint32_t>());
    ASSIGN_OR_RETURN(const uint32_t size, in.take<uint32_t>());
    ASSIGN_OR_RETURN(const uint64_t time_ns, in.take<uint64_t>());
    if (size < kRecordHeaderBytes) {
      return Error{"jitdump record of " + std::to_string(size) + " bytes"};
    }
    if (size > bytes.size() - consumed) return {};
    const ByteReader body(bytes.subspan(consumed + kRecordHeaderBytes, size - kRecordHeaderBytes),
                          order);
    if (kind == kLoad) {
      ASSIGN_OR_RETURN(JitRecord record, parse_load(body, time_ns));
      records.push_back(std::move(record));
    } else if (kind == kMove) {
      ASSIGN_OR_RETURN(JitRecord record, parse_move(body, time_ns));
      records.push_back(std::move(record));
    } else if (kind == kDebugInfo) {
      ASSIGN_OR_RETURN(JitRecord record, parse_debug_info(body, time_ns));
      records.push_back(std::move(record));
    } else if (kind == kClose) {
      records.emplace_back(std::in_place_type<JitClose>);
    }
    consumed += size;
  }
  return {};
}

}  // namespace culprit
