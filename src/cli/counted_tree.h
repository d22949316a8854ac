#pragma once

#include <string>

#include "base/result.h"
#include "cli/options/command_line.h"

namespace culprit {

/// False in the small build: there the counts are printed, and the tree where the profile is
/// taken to.
bool can_print_trees();

/// The tree of cycles of what `culprit stat --template` counted.
Result<std::string> print_counted_tree(const Profile& profile, const StatCommand& command);

}  // namespace culprit
