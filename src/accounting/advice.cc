#include "accounting/advice.h"

#include <algorithm>

#include "accounting/formulas.h"

namespace culprit {
namespace {

void collect(const CostNode& node, double unhalted, double least_share,
             std::vector<Advice>& found) {
  for (const CostNode& part : node.parts) collect(part, unhalted, least_share, found);
  if (!node.cycles || !node.in_sum) return;
  const double share = node.cycles->value / unhalted;
  double least = least_share;
  Advice one{&node, *node.cycles, share, "", ""};
  if (node.row != nullptr) {
    one.problem = node.row->problem;
    one.advice = node.row->advice;
  } else if (node.formula != nullptr) {
    one.problem = node.formula->problem;
    one.advice = node.formula->advice;
    if (node.formula->formula == Formula::port_saturation) least = kPortAttention;
  }
  if (share >= least && !one.advice.empty()) found.push_back(std::move(one));
}

}  // namespace

std::vector<Advice> find_advice(const CostTree& tree, double least_share) {
  std::vector<Advice> found;
  const std::optional<Estimate>& unhalted = tree.unhalted.cycles;
  if (!unhalted || !(unhalted->value > 0)) return found;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& branch : level.parts) {
      if (branch.kind == NodeKind::branch) collect(branch, unhalted->value, least_share, found);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Advice& a, const Advice& b) {
    return a.cycles.value > b.cycles.value;
  });
  return found;
}

}  // namespace culprit
