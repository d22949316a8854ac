#pragma once

// Trees of cycles of many parts of a profile, which are computed with and not shown: their words
// would take most of the time.

#include "accounting/cost_tree.h"

namespace culprit {

/// The tree of make_cost_tree() with the same numbers and states in the same places, and without
/// labels (but those of groups), reasons and names of what is missing.
CostTree make_wordless_cost_tree(const Template& cpu, const RowAmounts& amounts,
                                 const CostOptions& options);

}  // namespace culprit
