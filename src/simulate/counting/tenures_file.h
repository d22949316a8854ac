#pragma once

// What the machine model knows of the stays of lines in its caches, written when a
// process image ends, beside its counts file (PATH.tenures): rows per site, and edges between
// sites. Unlike counts these are in the process's own memory until then: a process that is
// killed takes them along.
//
//   TenuresHeader, SiteRow[rows], EdgeRow[edges]

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/machine/hierarchy.h"

namespace culprit::counting {

struct TenuresHeader {
  uint64_t magic;
  uint64_t rows;
  uint64_t edges;
};
inline constexpr uint64_t kTenuresMagic = 0x3145'5255'4e45'5443;  // "CTENURE1"

struct SiteRow {
  uint32_t site;
  simulate::Level level;
  uint8_t reserved[3];
  uint64_t lines;
  uint64_t bytes_touched;
  uint64_t bytes_accessed;
  uint64_t lines_at_end;
  uint64_t lines_never_used;  // brought in by a prefetcher
  uint64_t edges_rest;        // edges that were too many to keep
};

struct EdgeRow {
  uint32_t from;
  uint32_t to;
  simulate::EdgeKind kind;
  simulate::Level level;
  uint8_t reserved[6];
  uint64_t count;
};

struct Tenures {
  std::vector<SiteRow> rows;
  std::vector<EdgeRow> edges;
};

/// Ends all tenures of the hierarchy and writes them: once, when no thread accesses it.
bool write_tenures(const std::string& path, simulate::Hierarchy& hierarchy);

/// Errors: not there; sizes that contradict the file's. Sites are to be checked by the caller.
Result<Tenures> read_tenures(const std::string& path);

}  // namespace culprit::counting
