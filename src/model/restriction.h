#pragma once

#include <vector>

#include "model/profile.h"

namespace culprit {

/// Leaves out the counts of contexts that are not `kept` (by id); of edges either end may be in one
/// that is.
void restrict_counts(Profile& profile, const std::vector<bool>& kept);

}  // namespace culprit
