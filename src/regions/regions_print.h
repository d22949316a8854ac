#pragma once

// How the report of regions is printed.

#include <cstddef>

namespace culprit {

struct RegionsPrint {
  size_t limit = 20;  // constructs of the flat profile, by their time; 0: all
};

}  // namespace culprit
