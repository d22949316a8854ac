#pragma once

// Tells tests where the sources and the build's products are. Only one file of a build has these
// paths in it (cmake/rooms.cmake makes it), so that a compiler cache serves all clones.

#include <string>

namespace culprit {

std::string source_folder();
std::string binary_folder();

}  // namespace culprit
