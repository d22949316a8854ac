#pragma once

#include <string>

namespace culprit {

/// Where libculprit_timer.so is: beside the program, or in ../lib/culprit of an
/// installation; "" if in neither place.
std::string find_shim();

}  // namespace culprit
