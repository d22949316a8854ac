#pragma once

// What the machine model knows of the stays of lines in its caches, written when a
// process image ends, beside its counts file (PATH.tenures): rows per origin (instruction, kind of
// access, thread), and edges between origins. Unlike counts these are in the process's own memory
// until then: a process that is killed takes them along.
//
//   TenuresHeader, TenureRow[rows], EdgeRow[edges]

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
inline constexpr uint64_t kTenuresMagic = 0x3445'5255'4e45'5443;  // "CTENURE4"

/// Sums of several rows of one key are its numbers: each core has its own. Those of drawn sets are
/// as they were counted, not scaled.
struct TenureRow {
  simulate::Origin origin;
  simulate::Level level;
  uint8_t stratum;  // of sets, as simulate::SetSample has them
  uint8_t reserved[2];
  simulate::SiteTenures sums;
};
static_assert(sizeof(TenureRow) == 8 + sizeof(simulate::SiteTenures));

struct EdgeRow {
  simulate::EdgeKey key;
  simulate::Level level;
  uint8_t stratum;
  uint8_t reserved[2];
  uint64_t count;
};
static_assert(sizeof(EdgeRow) == 24);

struct Tenures {
  std::vector<TenureRow> rows;
  std::vector<EdgeRow> edges;
};

/// Ends all tenures of the hierarchy and writes them: once, when no thread accesses it.
bool write_tenures(const std::string& path, simulate::Hierarchy& hierarchy);

/// Errors: not there; sizes that contradict the file's. Sites and enumerations are to be checked by
/// the caller.
Result<Tenures> read_tenures(const std::string& path);

}  // namespace culprit::counting
