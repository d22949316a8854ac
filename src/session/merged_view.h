#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/profile_view.h"

namespace culprit {

/// Several profiles as one: their runs, processes and threads stay apart, what is the same
/// program's code is one image. One path: that profile. Errors: no path, the first that cannot be
/// read
Result<ProfileView> open_together(const std::vector<std::string>& paths);

}  // namespace culprit
