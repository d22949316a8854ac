#pragma once

#include <string_view>

namespace culprit {

/// Whether a function of the C, C++ or Fortran library or the kernel with this name (demangled,
/// with or without parameters, "@plt", version) never comes back to its caller.
bool never_returns(std::string_view name);

}  // namespace culprit
