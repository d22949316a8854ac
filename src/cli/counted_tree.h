#pragma once

#include <string>

#include "base/result.h"
#include "cli/command_line.h"

namespace culprit {

/// The tree of cycles of what `culprit stat --template` counted.
Result<std::string> print_counted_tree(const Profile& profile, const StatCommand& command);

}  // namespace culprit
