#pragma once

// What is asked of the shim beyond constructs: files that it reads as each process begins.

#include <cstddef>
#include <cstdint>
#include <linux/perf_event.h>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit {

/// A function whose calls are regions (--region): where it is, and what of it makes room for a
/// jump.
struct RegionFunction {
  std::string name;  // as it was asked for
  std::string path;  // of its file, as processes map it
  uint64_t file_offset = 0;
  std::string code;   // its first instructions, which are moved
  std::string moved;  // what they become elsewhere
  /// Of `moved`: distances from the end of an instruction (32 bits), and addresses (64 bits).
  struct Reference {
    size_t at = 0;
    size_t behind = 0;  // bytes of the instruction that follow it
    bool is_address = false;
    int64_t target = 0;  // from the beginning of the function on
  };
  std::vector<Reference> references;
};

struct RegionRequests {
  std::vector<RegionFunction> functions;
  /// Events that each thread counts in each region, as one group.
  std::vector<perf_event_attr> counters;
};

/// Errors: more than there is room for; the folder cannot be written.
Result<void> write_region_requests(const std::string& folder, const RegionRequests& requests);

}  // namespace culprit
