#pragma once

// What part of a program is simulated: --roi (while a thread is inside a function, with all that
// it calls) and --skip (not the first instructions of a process).
//
// A thread is inside from the first block of the function to the return of that call. Returns
// are found by a stack of return addresses per thread, that calls push and returns pop down to
// where they land: recursion, tail calls and calls through linkage stubs need nothing more.
//
//     main ─call→ f ─call→ f ─ret→ f ─ret→ main         f entered at height 1; with the second
//     height:     1        2       1       0            return the height is below: outside
//
// What jumps over frames (longjmp, exceptions) is outside only when the function that it lands
// in returns. The file REGION in the folder of counts has the function's places.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::counting {

struct BlockFacts;

/// Where functions begin: offsets in a file, as the program maps it.
struct RegionPlaces {
  std::string path;
  std::vector<uint64_t> offsets;
  [[nodiscard]] bool holds(std::string_view mapped_path, uint64_t offset) const;
};

std::string region_file_path(const std::string& folder);
Result<void> write_region_file(const std::string& path, const RegionPlaces& region);
/// Errors: not there, not of this kind.
Result<RegionPlaces> read_region_file(const std::string& path);

/// Where one thread is.
class RegionWatch {
 public:
  /// It runs a block; whether it is inside the region.
  bool step(const BlockFacts& block);

 private:
  void land(uint64_t address);

  std::vector<uint64_t> returns_;  // addresses, of the calls under way
  size_t entered_at_ = 0;          // their number when it came inside
  bool inside_ = false;
  const BlockFacts* before_ = nullptr;
};

}  // namespace culprit::counting
