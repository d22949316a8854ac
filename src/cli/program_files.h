#pragma once

#include <string>

namespace culprit {

/// Where libculprit_timer.so is: beside the program, or in ../lib/culprit of an
/// installation; "" if in neither place.
std::string find_shim();

/// The same for libculprit_qemu.so.
std::string find_qemu_plugin();

}  // namespace culprit
