#pragma once

// What part of a program is simulated: --roi (while a thread is inside a function, with all that
// it calls) and --skip (not the first instructions of a process).
//
// A thread is inside from the first block of the function to the end of that call, by the
// thread's CallStack:
//
//     main ─call→ f ─call→ f ─ret→ f ─ret→ main         f entered at height 1; with the second
//     height:     1        2       1       0            return the height is below: outside
//
// The file REGION in the folder of counts has the function's places. Functions that are told apart
// as constructs are (--region) have files of the same kind.

#include <cstddef>
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
/// Of a function that is to be a construct (--region), by its number from 0 on.
std::string function_file_path(const std::string& folder, size_t number);
Result<void> write_region_file(const std::string& path, const RegionPlaces& region);
/// Errors: not there, not of this kind.
Result<RegionPlaces> read_region_file(const std::string& path);

/// Where one thread is.
class RegionWatch {
 public:
  /// It runs a block, for which its stack came down to a `least` height and is at `height` now.
  /// Whether it is inside the region.
  bool step(const BlockFacts& block, size_t least, size_t height);

 private:
  size_t entered_at_ = 0;  // height when it came inside
  bool inside_ = false;
};

}  // namespace culprit::counting
