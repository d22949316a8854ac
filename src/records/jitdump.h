#pragma once

// jit-PID.dump, in which a JIT compiler keeps the code it makes, with times and
// lines. Format: tools/perf/Documentation/jitdump-specification.txt of the kernel.
//
// The file grows while it is read: parse_jitdump() takes whole records only and
// says how far it got.

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/address.h"
#include "base/result.h"

namespace culprit {

struct JitdumpHeader {
  std::endian order = std::endian::native;
  uint32_t header_bytes = 0;
  uint32_t elf_machine = 0;
  uint32_t pid = 0;
  uint64_t flags = 0;  // 1: times are those of an architecture's own counter, not of a clock
};

struct JitLine {
  RunAddress address;
  std::string file;
  uint32_t line = 0;
};

struct JitLoad {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  RunAddress address;
  uint64_t index = 0;
  std::string name;
  std::string code;
};
struct JitMove {
  uint64_t time_ns = 0;
  RunAddress from;
  RunAddress to;
  uint64_t size_bytes = 0;
  uint64_t index = 0;
};
/// Lines of the load that follows, which begins at `address`.
struct JitDebugInfo {
  uint64_t time_ns = 0;
  RunAddress address;
  std::vector<JitLine> lines;
};
struct JitClose {};

using JitRecord = std::variant<JitLoad, JitMove, JitDebugInfo, JitClose>;

Result<JitdumpHeader> parse_jitdump_header(std::span<const std::byte> bytes);

/// Whole records from the front of `bytes` (after the header, or after what was consumed
/// before). Kinds that say nothing about code are passed over. An error: the bytes make no
/// sense from here on; `records` has what came before.
Result<void> parse_jitdump(std::span<const std::byte> bytes, std::endian order,
                           std::vector<JitRecord>& records, size_t& consumed);

}  // namespace culprit
