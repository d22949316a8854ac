#pragma once

// What stands out in a tree of costs, and what a programmer does about it.

#include <string>
#include <vector>

#include "accounting/cost_tree.h"

namespace culprit {

/// One cost that is worth a look. Strings and nodes belong to the tree and its template.
struct Advice {
  const CostNode* node = nullptr;  // an event or a formula
  Estimate cycles;                 // what would be saved if it vanished, and nothing overlapped
  double share = 0;                // of the tree's unhalted cycles
  std::string problem;
  std::string advice;
};

/// Costs of at least `least_share` of the unhalted cycles that the template has advice for, the
/// largest first. A port counts from kPortAttention of all cycles on.
std::vector<Advice> find_advice(const CostTree& tree, double least_share = 0.03);

}  // namespace culprit
