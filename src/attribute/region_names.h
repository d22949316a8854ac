#pragma once

// Where regions are in the source, and what they are called in a row of a report:
//
//     loop dynamic mill.c:27      critical mill.c:31      waiting: critical mill.c:31
//     warm up                     [outside regions]       [not known]

#include <optional>
#include <string>
#include <vector>

#include "attribute/code_index.h"

namespace culprit {

/// What a construct's lines are.
enum class LinesAre : uint8_t { unknown, construct, function };

/// Where a construct is in the source.
struct RegionPlace {
  std::string file;
  uint32_t first_line = 0;
  uint32_t last_line = 0;  // 0: not known
  std::string function;
  LinesAre lines = LinesAre::unknown;
};

struct FoundRegion {
  RegionPlace place;
  std::optional<std::string> source;  // the first line
};
/// Names a row of the profile's regions by its site and end; what is not known of the place is
/// empty.
FoundRegion find_region(RegionId region, CodeIndex& code);

class RegionNames {
 public:
  /// It must outlive the RegionNames.
  explicit RegionNames(CodeIndex& code) : code_(code) {}

  /// The name of a row of the profile's regions, or of none. Equal constructs below different ones
  /// have one name.
  const std::string& name(RegionId region);
  /// The region's name and those of the regions around it, each on a line.
  std::string path(RegionId region);

 private:
  std::string make_name(RegionId id);

  CodeIndex& code_;
  std::vector<std::string> names_;  // by row; "": not made yet
};

}  // namespace culprit
