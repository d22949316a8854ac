#pragma once

// What stands out in a tree of costs, and what a programmer does about it.

#include <string>
#include <vector>

#include "accounting/cost_tree.h"

namespace culprit {

/// One cost that is worth a look. Strings and nodes belong to the tree and its template.
struct Advice {
  const CostNode* node = nullptr;    // an event or a formula
  const CostNode* branch = nullptr;  // of level 3, which it is in
  Estimate cycles;                   // what would be saved if it vanished, and nothing overlapped
  double share = 0;                  // of the tree's unhalted cycles
  std::string problem;
  std::string advice;
};

/// The branch of level 3 that has most cycles, if those are many; nullptr if none has. Ports are
/// busy in good programs, too: they are no such branch.
const CostNode* find_largest_branch(const CostTree& tree);

/// Costs of at least `least_share` of the unhalted cycles that the template has advice for: those
/// of the largest branch first (and if they are smaller, its largest one), then branch after branch
/// as they have cycles, the largest cost of each first. A port counts from kPortAttention of all
/// cycles on.
std::vector<Advice> find_advice(const CostTree& tree, double least_share = 0.03);

}  // namespace culprit
