#include "accounting/cost_tree.h"

#include <algorithm>
#include <utility>

#include "accounting/cost_leaves.h"
#include "accounting/wordless_cost_tree.h"

namespace culprit {
namespace {

/// Adds what belongs to the parent's cycles and was measured.
void add_part(CostNode& parent, const CostNode& part) {
  if (!part.in_sum || !part.cycles) return;
  parent.provenance = parent.cycles ? weaker(parent.provenance, part.provenance) : part.provenance;
  parent.cycles = parent.cycles.value_or(Estimate{}) + *part.cycles;
  parent.is_linear = parent.is_linear && part.is_linear;
}

class TreeMaker {
 public:
  TreeMaker(const Template& cpu, const RowAmounts& amounts, const CostOptions& options,
            bool has_words)
      : cpu_(cpu), has_words_(has_words), leaves_(cpu, amounts, options, has_words) {}

  CostTree make() {
    CostTree tree;
    tree.unhalted = make_level(CostBranch::unhalted);
    CostNode stalled = make_level(CostBranch::stalled);
    CostNode unstalled = make_level(CostBranch::unstalled);
    const bool stalled_is_counted = stalled.cycles.has_value();
    close_levels(tree.unhalted, stalled, unstalled);
    leaves_.set_levels(tree.unhalted.cycles, unstalled.cycles);
    add_branches(stalled, CostBranch::load_latency, CostBranch::port_saturation);
    add_branches(unstalled, CostBranch::port_saturation, CostBranch::general);
    if (stalled_is_counted) compare_with_branches(tree, stalled);
    tree.unhalted.parts.push_back(std::move(stalled));
    tree.unhalted.parts.push_back(std::move(unstalled));
    CostNode general = make_branch(CostBranch::general);
    tree.general = std::move(general.parts);
    return tree;
  }

 private:
  CostNode make_level(CostBranch branch) const {
    CostNode node = make_branch(branch);
    node.kind = NodeKind::level;
    return node;
  }

  CostNode make_branch(CostBranch branch) const {
    CostNode node;
    node.kind = NodeKind::branch;
    node.branch = branch;
    if (has_words_) node.label = branch_words(branch);
    for (size_t i = 0; i < cpu_.rows.size(); ++i) {
      const TemplateRow& row = cpu_.rows[i];
      if (row.branch != branch || row.role == Role::derive) continue;
      home(node, row.group).parts.push_back(leaves_.make_event(i));
    }
    for (const TemplateFormula& formula : cpu_.formulas) {
      if (formula.branch != branch) continue;
      home(node, formula.group).parts.push_back(leaves_.make_formula(formula));
    }
    for (CostNode& part : node.parts) {
      if (part.kind == NodeKind::group) add_up(part);
    }
    add_up(node);
    apply_coverage(node);
    return node;
  }

  /// Where a row of a group goes: the group's node, made when it is first named.
  static CostNode& home(CostNode& branch, const std::string& group) {
    if (group.empty()) return branch;
    for (CostNode& part : branch.parts) {
      if (part.kind == NodeKind::group && part.label == group) return part;
    }
    CostNode& made = branch.parts.emplace_back();
    made.kind = NodeKind::group;
    made.branch = branch.branch;
    made.label = group;
    return made;
  }

  /// Sums, what is missing, and the bounds that cap it.
  static void add_up(CostNode& node) {
    std::string other_reason;
    size_t summed = 0;
    bool has_gap = false;
    std::optional<Estimate> bound;
    for (const CostNode& part : node.parts) {
      add_part(node, part);
      if (part.row != nullptr && part.row->role == Role::bound && part.cycles) {
        if (!bound || part.cycles->value < bound->value) bound = part.cycles;
      }
      if (!part.in_sum) continue;
      ++summed;
      if (part.cycles && part.state == NodeState::measured) continue;
      has_gap = true;
      node.missing.insert(node.missing.end(), part.missing.begin(), part.missing.end());
      if (part.missing.empty() && !part.cycles) other_reason = part.reason;
    }
    if (node.kind == NodeKind::group) node.in_sum = summed > 0;
    if (summed > 0 && !node.cycles) {
      node.state = NodeState::not_recorded;
      node.reason = node.missing.empty() ? other_reason : describe_missing(node.missing);
    } else if (has_gap) {
      node.state = NodeState::partly_measured;
      node.reason = node.missing.empty() ? other_reason : describe_missing(node.missing);
    }
    if (bound && node.cycles && bound->value < node.cycles->value) {
      node.uncapped = node.cycles;
      node.cycles = bound;
      node.is_linear = false;
    }
  }

  void apply_coverage(CostNode& node) const {
    const BranchCoverage& coverage = cpu_.coverage[static_cast<size_t>(node.branch)];
    if (!is_level3(node.branch)) return;
    if (coverage.coverage == Coverage::none) {
      node.state = NodeState::not_covered;
      if (has_words_) node.reason = coverage.reason;
      node.cycles.reset();
    } else if (coverage.coverage == Coverage::partial && node.cycles) {
      const bool lacks_more = node.state == NodeState::partly_measured && !node.reason.empty();
      node.state = NodeState::partly_measured;
      if (has_words_) node.reason = coverage.reason + (lacks_more ? " (" + node.reason + ")" : "");
    }
  }

  void add_branches(CostNode& level, CostBranch first, CostBranch end) const {
    for (auto i = static_cast<uint8_t>(first); i < static_cast<uint8_t>(end); ++i) {
      level.parts.push_back(make_branch(static_cast<CostBranch>(i)));
    }
  }

  /// Levels 1 and 2 close: unhalted = stalled + unstalled, each counted or the difference.
  static void close_levels(const CostNode& unhalted, CostNode& stalled, CostNode& unstalled) {
    if (!unstalled.cycles) take_informing_cycles(unstalled);
    const auto difference = [&](const CostNode& other, CostNode& node) {
      const double rest = unhalted.cycles->value - other.cycles->value;
      node.cycles =
          Estimate{std::max(0.0, rest), (*unhalted.cycles + *other.cycles).standard_error};
      node.provenance = weaker(unhalted.provenance, other.provenance);
      node.state = NodeState::measured;
      node.reason = "unhalted - " + other.label;
    };
    if (unhalted.cycles && stalled.cycles && !unstalled.cycles) difference(stalled, unstalled);
    if (unhalted.cycles && unstalled.cycles && !stalled.cycles) difference(unstalled, stalled);
    // Each is the other's rest: a profile without both lacks what would tell either.
    const bool can_be_told = !stalled.parts.empty() || !unstalled.parts.empty();
    for (CostNode* const level : {&stalled, &unstalled}) {
      if (level->cycles) continue;
      level->state = can_be_told ? NodeState::not_recorded : NodeState::not_covered;
      level->reason = "no event of this profile tells stalled from unstalled cycles";
    }
  }

  static void compare_with_branches(CostTree& tree, const CostNode& stalled) {
    CostNode sum;
    for (const CostNode& branch : stalled.parts) {
      if (branch.kind == NodeKind::branch) add_part(sum, branch);
    }
    if (!sum.cycles) return;
    const double excess = sum.cycles->value - stalled.cycles->value;
    const double error = (*sum.cycles + *stalled.cycles).standard_error;
    tree.overlap = Estimate{std::max(0.0, excess), error};
    tree.unexplained = Estimate{std::max(0.0, -excess), error};
  }

  /// Cycles that a row counts which only informs (a level is no sum of branches).
  static void take_informing_cycles(CostNode& level) {
    for (const CostNode& part : level.parts) {
      if (part.kind != NodeKind::event || !part.cycles) continue;
      level.cycles = part.cycles;
      level.provenance = part.provenance;
      return;
    }
  }

  const Template& cpu_;
  bool has_words_;
  CostLeaves leaves_;
};

}  // namespace

const CostNode* CostTree::find(CostBranch branch) const {
  if (branch == CostBranch::unhalted) return &unhalted;
  for (const CostNode& level : unhalted.parts) {
    if (level.branch == branch && level.kind == NodeKind::level) return &level;
    for (const CostNode& node : level.parts) {
      if (node.branch == branch && node.kind == NodeKind::branch) return &node;
    }
  }
  return nullptr;
}

CostTree make_cost_tree(const Template& cpu, const RowAmounts& amounts,
                        const CostOptions& options) {
  return TreeMaker(cpu, amounts, options, true).make();
}

CostTree make_wordless_cost_tree(const Template& cpu, const RowAmounts& amounts,
                                 const CostOptions& options) {
  return TreeMaker(cpu, amounts, options, false).make();
}

}  // namespace culprit
