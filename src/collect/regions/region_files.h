#pragma once

// What the shim of regions wrote (guest/protocol.h), as plain values. The bytes belong to the
// profiled program: whatever does not hold together is an error, or left out and counted.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/result.h"
#include "collect/regions/guest/protocol.h"

namespace culprit {

struct RegionPath {
  uint32_t parent = 0;  // less than its own number; 0 is the program
  uint16_t kind = 0;    // culprit_region_kind
  uint16_t detail = 0;  // culprit_region_detail
  std::string name;     // that the program gave it; "" without
  RunAddress site;
  RunAddress end;  // 0: not seen
};

struct RegionFile {
  RunAddress start;
  RunAddress end;
  uint64_t file_offset = 0;
  uint64_t inode = 0;
  std::string path;
};

struct RegionCounter {
  uint32_t path = 0;
  uint64_t executions = 0;
  uint64_t pieces = 0;
  uint64_t behind_single = 0;  // ticks, as the next
  uint64_t inner_tasks = 0;
  std::array<uint64_t, CULPRIT_PARTS> ticks{};
  uint64_t unfinished = 0;  // executions, in those above, that had not ended when the process did
  uint64_t unfinished_ticks = 0;  // theirs, in the ticks above
};

/// What a thread was in when its process ended, or the file was read.
struct RegionOpen {
  uint32_t path = 0;  // 0: of no known path
  uint16_t kind = 0;
  bool is_wait = false;
  uint16_t part = CULPRIT_PART_BODY;
  uint64_t begin = 0;  // ticks
  uint64_t tasks = 0;  // ticks of tasks that it ran meanwhile
};

/// What a thread counted in a path, or waiting there.
struct RegionCount {
  uint32_t path = 0;
  bool is_waiting = false;
  std::array<uint64_t, CULPRIT_MAX_COUNTERS> values{};
};

struct RegionThread {
  uint32_t tid = 0;
  uint32_t number = 0;  // in its first team, plus one; 0: in none
  uint32_t threads = 0;
  std::vector<RegionOpen> open{};          // the outermost first
  std::vector<RegionOpen> held{};          // locks
  std::optional<RegionOpen> asked = {};    // what it waited to be let into
  std::optional<RegionOpen> barrier = {};  // at the end of a parallel region
  uint64_t still_open = 0;  // that had not ended and are in no counter: another process's
  uint64_t dropped = 0;
  uint64_t unmatched = 0;
  uint64_t too_deep = 0;
  uint64_t backwards = 0;
  std::vector<RegionCounter> counters;  // those that are not zero, by path
  std::vector<RegionCount> counts{};    // likewise, of paths that are not the program
};

struct RegionProcess {
  std::string name;  // of its files
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  bool uses_tsc = false;
  uint32_t flags = 0;
  uint64_t start_ticks = 0;
  uint64_t lost_paths = 0;
  uint64_t lost_threads = 0;
  uint64_t functions_seen = 0;     // bits of RegionRequests::functions
  uint64_t functions_refused = 0;  // that are in the process, and cannot be seen
  std::vector<RegionFile> files;
  std::vector<RegionPath> paths;  // [0]: the program
  std::vector<RegionThread> threads;
};

/// The shim is in a process from then on.
struct RegionLoaded {
  uint64_t time_ns = 0;  // of CLOCK_MONOTONIC
  uint32_t pid = 0;
  std::string name;
};

struct RegionFiles {
  std::vector<RegionProcess> processes;  // by pid
  std::vector<RegionLoaded> loaded;      // as they began
  uint64_t damaged = 0;                  // files that were not what they should be
};

Result<RegionProcess> parse_region_paths(std::span<const std::byte> file);
/// `path_count`: of the process that the thread belongs to. The second has none of what is damaged.
Result<RegionThread> parse_region_thread(std::span<const std::byte> file, size_t path_count);

std::vector<RegionCount> parse_region_counts(std::span<const std::byte> file, size_t path_count);
/// Rows from `from` on, a number of bytes that is moved behind what was whole.
std::vector<RegionLoaded> read_region_loaded(const std::string& folder, uint64_t* from);

/// All that is in the folder.
RegionFiles read_region_files(const std::string& folder);

}  // namespace culprit
