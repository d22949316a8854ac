#pragma once

// Prefetchers: which lines to bring in ahead of the program. Both see only what misses the
// first level or uses a prefetched line for the first time, by virtual address, and never
// go beyond a 4 KiB page.
//
//   stream: three accesses to neighbouring lines in one direction within a page; then the
//           next lines that way, into L2: twice as many as there were accesses, at most
//           `stream_lines`
//   stride: the same step three times by one instruction; then `stride_steps` steps ahead,
//           into L1D

#include <array>
#include <cstdint>

#include "simulate/machine/machine.h"
#include "simulate/machine/outcome.h"

namespace culprit::simulate {

inline constexpr int kPrefetchPageShift = 12;

/// Lines to bring in, few.
struct PrefetchList {
  static constexpr uint32_t kMost = 64;
  std::array<uint64_t, kMost> lines;
  uint32_t count = 0;

  void add(uint64_t line) {
    if (count < kMost) lines[count++] = line;
  }
};

/// Lines that one access brought in ahead, and how far from.
struct PrefetchedLines {
  struct Line {
    uint64_t line = 0;
    DataSource source = DataSource::l2;
    uint16_t latency_cycles = 0;
  };
  std::array<Line, 2 * PrefetchList::kMost> lines;
  uint32_t count = 0;

  void add(const Line& line) {
    if (count < lines.size()) lines[count++] = line;
  }
};

class StreamPrefetcher {
 public:
  StreamPrefetcher(const PrefetchSettings& settings, uint32_t line_shift)
      : ahead_(settings.stream ? settings.stream_lines : 0),
        crosses_pages_(settings.stream_crosses_pages),
        page_shift_(kPrefetchPageShift - line_shift) {}

  void train(uint64_t line, PrefetchList& list);

 private:
  struct Stream {
    uint64_t page = ~uint64_t{0};
    uint64_t last = 0;   // line
    uint64_t until = 0;  // the farthest line asked for
    int32_t direction = 0;
    uint32_t length = 0;  // steps in that direction
    uint64_t used = 0;    // for replacement
  };
  Stream& find_stream(uint64_t page);

  uint32_t ahead_;
  bool crosses_pages_;
  uint32_t page_shift_;
  uint64_t clock_ = 0;
  std::array<Stream, 16> streams_;
};

class StridePrefetcher {
 public:
  StridePrefetcher(const PrefetchSettings& settings, uint32_t line_shift)
      : ahead_(settings.stride ? settings.stride_steps : 0), line_shift_(line_shift) {}

  /// `instruction`: its address. Numbers of sites would not do: they depend on what else is told
  /// apart, and two that meet in one entry would be others then.
  void train(uint64_t address, uint64_t instruction, PrefetchList& list);

 private:
  struct Entry {
    uint64_t instruction = 0;
    uint32_t times = 0;
    uint64_t last = 0;
    int64_t step = 0;
  };
  uint32_t ahead_;
  uint32_t line_shift_;
  std::array<Entry, 256> entries_;
};

}  // namespace culprit::simulate
