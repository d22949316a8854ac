#pragma once

// The data objects whose accesses alone `culprit regions --object` counts.

#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/result.h"

namespace culprit {

struct ChosenObjects {
  std::vector<bool> rows;            // by row of the profile's objects
  std::vector<std::string> remarks;  // what is counted, and where it is
};

/// `words`: a name or a pattern, as `report --by object` has them. Errors: nothing is called so,
/// with the nearest name; the profile tells no objects apart
Result<ChosenObjects> find_region_objects(CodeIndex& code, const std::string& words);

}  // namespace culprit
