#include "accounting/advice.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "accounting/formulas.h"

namespace culprit {
namespace {

class AdviceList {
 public:
  AdviceList(double unhalted, double least_share)
      : unhalted_(unhalted), least_share_(least_share) {}

  /// The advice of one branch, the largest first.
  void add(const CostNode& branch, bool is_largest) {
    std::vector<Advice> all;
    collect(branch, branch, all);
    std::ranges::stable_sort(all, std::greater(),
                             [](const Advice& one) { return one.cycles.value; });
    for (size_t i = 0; i < all.size(); ++i) {
      const bool is_much = all[i].share >= least_of(*all[i].node);
      if (is_much || (is_largest && i == 0)) found_.push_back(std::move(all[i]));
    }
  }
  std::vector<Advice> take() { return std::move(found_); }

 private:
  void collect(const CostNode& node, const CostNode& branch, std::vector<Advice>& all) const {
    for (const CostNode& part : node.parts) collect(part, branch, all);
    if (!node.cycles || !node.in_sum) return;
    Advice one{&node, &branch, *node.cycles, node.cycles->value / unhalted_, "", ""};
    if (node.row != nullptr) {
      one.problem = node.row->problem;
      one.advice = node.row->advice;
    } else if (node.formula != nullptr) {
      one.problem = node.formula->problem;
      one.advice = node.formula->advice;
    }
    if (!one.advice.empty()) all.push_back(std::move(one));
  }
  double least_of(const CostNode& node) const {
    const bool is_ports =
        node.formula != nullptr && node.formula->formula == Formula::port_saturation;
    return is_ports ? kPortAttention : least_share_;
  }

  double unhalted_;
  double least_share_;
  std::vector<Advice> found_;
};

std::vector<const CostNode*> find_branches(const CostTree& tree) {
  std::vector<const CostNode*> branches;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& branch : level.parts) {
      if (branch.kind == NodeKind::branch && branch.cycles) branches.push_back(&branch);
    }
  }
  std::ranges::stable_sort(branches, std::greater(),
                           [](const CostNode* one) { return one->cycles->value; });
  return branches;
}

}  // namespace

const CostNode* find_largest_branch(const CostTree& tree) {
  constexpr double kMany = 0.1;  // of the unhalted cycles
  const std::optional<Estimate>& unhalted = tree.unhalted.cycles;
  if (!unhalted || !(unhalted->value > 0)) return nullptr;
  for (const CostNode* branch : find_branches(tree)) {
    if (branch->branch == CostBranch::port_saturation) continue;
    return branch->cycles->value >= kMany * unhalted->value ? branch : nullptr;
  }
  return nullptr;
}

std::vector<Advice> find_advice(const CostTree& tree, double least_share) {
  const std::optional<Estimate>& unhalted = tree.unhalted.cycles;
  if (!unhalted || !(unhalted->value > 0)) return {};
  AdviceList list(unhalted->value, least_share);
  const CostNode* const largest = find_largest_branch(tree);
  if (largest != nullptr) list.add(*largest, true);
  for (const CostNode* branch : find_branches(tree)) {
    if (branch != largest) list.add(*branch, false);
  }
  return list.take();
}

}  // namespace culprit
