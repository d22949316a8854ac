#pragma once

// What was measured in each window, in a file beside the counts file (PATH.windows): one chunk for
// each thread in each window, appended when the thread leaves the window.
//
//   WindowHeader, then numbers of seven bits a byte, the lowest first (LEB128):
//     blocks: how many, then of each: its number less the one before, runs
//     sites: how many, then of each: its number less the one before, values, then of each value:
//            which (kStallsInWindow and the others), how much
//
// A reader finds whole chunks only, as the writer adds each by one write.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/counts/counts_file.h"

namespace culprit::counting {

struct WindowHeader {
  uint32_t magic;
  uint32_t core;     // whose part of the counts file it is
  uint32_t window;   // 0: the beginning, which was measured whole
  uint32_t stratum;  // likewise
  uint64_t segment;  // instructions that the window stands for
  uint64_t bytes;    // of what follows
};
inline constexpr uint32_t kWindowMagic = 0x314e'4957;  // "WIN1"

// The values of a site, by number: SiteCounts, SiteTicks' stalls and busy, ReplayTicks.
inline constexpr uint32_t kStallsInWindow = counts_file::kCounters;
inline constexpr uint32_t kBusyInWindow = kStallsInWindow + simulate::kCycleClasses;
inline constexpr uint32_t kReplaysInWindow = kBusyInWindow + std::size(simulate::kBusyValues);
inline constexpr uint32_t kWindowValues = kReplaysInWindow + simulate::kReplays;

struct WindowRuns {
  uint32_t block = 0;
  uint64_t runs = 0;
};
struct WindowValue {
  uint32_t site = 0;
  uint32_t which = 0;  // below kWindowValues
  uint64_t amount = 0;
};

/// One thread in one window.
struct Window {
  uint32_t core = 0;
  uint32_t number = 0;
  uint32_t stratum = 0;
  uint64_t segment = 0;
  std::vector<WindowRuns> runs;     // by block, ascending
  std::vector<WindowValue> values;  // by site, ascending
};

std::string windows_file_path(const std::string& counts_path);

/// Adds the window to the file, which is made if it is not there. False: it cannot be.
bool append_window(const std::string& path, const Window& window);

/// All windows of a file, in the order of their numbers.
class WindowsFile {
 public:
  /// No file: no windows.
  /// Errors: cannot be read; no chunk where one should be
  static Result<WindowsFile> read(const std::string& path);
  [[nodiscard]] size_t size() const { return chunks_.size(); }
  [[nodiscard]] const WindowHeader& header(size_t index) const { return chunks_[index].header; }
  /// Errors: numbers that are no number, or blocks and sites that are not below these.
  Result<Window> window(size_t index, size_t blocks, size_t sites) const;

 private:
  struct Chunk {
    WindowHeader header;
    size_t start = 0;
  };
  std::string bytes_;
  std::vector<Chunk> chunks_;
};

}  // namespace culprit::counting
