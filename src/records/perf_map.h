#pragma once

// /tmp/perf-PID.map: "START SIZE NAME" lines (hexadecimal) that JIT compilers write
// to name the code they make. They only append, so later lines win.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"

namespace culprit {

struct PerfMapEntry {
  RunAddress start;
  uint64_t size_bytes = 0;
  std::string name;
};

/// Lines that do not parse, or have no size, are left out; so is a last line without its line
/// feed, which may not be complete yet: `consumed` says where to go on.
std::vector<PerfMapEntry> parse_perf_map(std::string_view text, size_t& consumed);

}  // namespace culprit
