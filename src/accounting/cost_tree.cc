#include "accounting/cost_tree.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "accounting/formulas.h"

namespace culprit {
namespace {

Provenance weaker(Provenance a, Provenance b) {
  return std::max(a, b);  // counted, sampled, modelled
}

/// The cycles of one event. Nothing: its cost is not known here.
std::optional<double> cycles_per_event(const Penalty& penalty, const CostOptions& options) {
  if (!penalty.value) return std::nullopt;
  if (penalty.unit != PenaltyUnit::ns) return penalty.value;
  if (!options.hertz) return std::nullopt;
  return *penalty.value * *options.hertz / 1e9;
}

/// "not recorded: A, B and 3 more".
std::string describe_missing(const std::vector<std::string>& events) {
  constexpr size_t kNamed = 2;
  std::string text = "not recorded: " + events.front();
  for (size_t i = 1; i < std::min(events.size(), kNamed); ++i) text += ", " + events[i];
  if (events.size() > kNamed) text += fmt::format(" and {} more", events.size() - kNamed);
  return text;
}

/// Adds what belongs to the parent's cycles and was measured.
void add_part(CostNode& parent, const CostNode& part) {
  if (!part.in_sum || !part.cycles) return;
  parent.provenance = parent.cycles ? weaker(parent.provenance, part.provenance) : part.provenance;
  parent.cycles = parent.cycles.value_or(Estimate{}) + *part.cycles;
  parent.is_linear = parent.is_linear && part.is_linear;
}

class TreeMaker {
 public:
  TreeMaker(const Template& cpu, const RowAmounts& amounts, const CostOptions& options)
      : cpu_(cpu), amounts_(amounts), options_(options) {}

  CostTree make() {
    CostTree tree;
    tree.unhalted = make_level(Branch::unhalted);
    CostNode stalled = make_level(Branch::stalled);
    CostNode unstalled = make_level(Branch::unstalled);
    const bool stalled_is_counted = stalled.cycles.has_value();
    close_levels(tree.unhalted, stalled, unstalled);
    unhalted_ = tree.unhalted.cycles;
    unstalled_ = unstalled.cycles;
    add_branches(stalled, Branch::load_latency, Branch::port_saturation);
    add_branches(unstalled, Branch::port_saturation, Branch::general);
    if (stalled_is_counted) compare_with_branches(tree, stalled);
    tree.unhalted.parts.push_back(std::move(stalled));
    tree.unhalted.parts.push_back(std::move(unstalled));
    CostNode general = make_branch(Branch::general);
    tree.general = std::move(general.parts);
    return tree;
  }

 private:
  CostNode make_event(size_t index) const {
    const TemplateRow& row = cpu_.rows[index];
    CostNode node;
    node.kind = NodeKind::event;
    node.branch = row.branch;
    node.label = row.label;
    node.row = &row;
    node.in_sum = row.role == Role::sum;
    const std::optional<RowAmount> amount =
        index < amounts_.size() ? amounts_[index] : std::nullopt;
    if (!amount) {
      node.state = NodeState::not_recorded;
      node.missing = {row.event};
      node.reason = describe_missing(node.missing);
      return node;
    }
    node.amount = amount;
    const bool has_cycles = row.role == Role::sum || row.role == Role::bound ||
                            (row.penalty.value && *row.penalty.value != 0);
    if (!has_cycles) return node;
    if (const std::optional<double> each = cycles_per_event(row.penalty, options_)) {
      node.cycles = amount->events * *each;
      const bool is_count_of_cycles = row.penalty.unit == PenaltyUnit::cycles && *each == 1;
      node.provenance = is_count_of_cycles ? amount->provenance : Provenance::modelled;
    } else {
      node.state = NodeState::not_covered;
      node.reason = row.penalty.unit == PenaltyUnit::ns
                        ? "its cost is in ns, and the clock of this machine is not known"
                        : "what it costs was not measured on this machine";
    }
    return node;
  }

  /// Operands, as far as they were measured; false if one that is needed was not.
  bool take_operands(const TemplateFormula& formula, size_t needed, std::vector<Estimate>& values,
                     Provenance& provenance, std::vector<std::string>& missing) const {
    for (const std::string& event : formula.operands) {
      const auto row = std::find_if(cpu_.rows.begin(), cpu_.rows.end(),
                                    [&](const TemplateRow& one) { return one.event == event; });
      const size_t index = static_cast<size_t>(row - cpu_.rows.begin());
      if (index < amounts_.size() && amounts_[index]) {
        values.push_back(amounts_[index]->events);
        provenance = weaker(provenance, amounts_[index]->provenance);
      } else {
        missing.push_back(event);
        if (values.size() < needed) return false;
      }
    }
    return values.size() >= needed;
  }

  CostNode make_formula(const TemplateFormula& formula) const {
    CostNode node;
    node.kind = NodeKind::formula;
    node.branch = formula.branch;
    node.label = formula.label;
    node.formula = &formula;
    node.in_sum = formula.role == Role::sum;
    node.is_linear = formula.formula == Formula::call_overhead;
    if (formula.formula == Formula::collisions && !options_.is_counting) {
      node.state = NodeState::not_covered;
      node.reason = "an estimate for counts of whole runs only (culprit stat)";
      return node;
    }
    std::vector<Estimate> values;
    std::vector<std::string> missing;
    Provenance provenance = Provenance::counted;
    if (!take_operands(formula, needed_operands(formula.formula), values, provenance, missing)) {
      node.state = NodeState::not_recorded;
      node.missing = std::move(missing);
      node.reason = describe_missing(node.missing);
      return node;
    }
    if (!missing.empty() && formula.formula == Formula::port_saturation) {
      node.state = NodeState::partly_measured;
      node.reason = fmt::format("without {}", fmt::join(missing, ", "));
    }
    if (!missing.empty() && formula.formula == Formula::difference) {
      node.state = NodeState::not_recorded;
      node.missing = std::move(missing);
      node.reason = describe_missing(node.missing);
      return node;
    }
    if (formula.formula == Formula::collisions && (!unhalted_ || !unstalled_)) {
      node.state = NodeState::not_recorded;
      node.reason = "unhalted or unstalled cycles are not known";
      return node;
    }
    const Estimate value = compute(formula, values);
    if (formula.formula == Formula::ratio) {
      node.ratio = value;
      node.provenance = provenance;
    } else {
      node.cycles = value;
      // The busiest port's cycles were counted; the others are arithmetic.
      node.provenance =
          formula.formula == Formula::port_saturation ? provenance : Provenance::modelled;
    }
    return node;
  }

  static size_t needed_operands(Formula formula) {
    switch (formula) {
      case Formula::wrong_path:
      case Formula::ratio:
      case Formula::collisions:
        return 2;
      case Formula::port_saturation:
      case Formula::call_overhead:
      case Formula::difference:
        return 1;
    }
    return 1;
  }

  Estimate compute(const TemplateFormula& formula, const std::vector<Estimate>& values) const {
    using Values = std::span<const double>;
    switch (formula.formula) {
      case Formula::wrong_path:
        return propagate(
            [&](Values v) {
              // Measured where the cycles with an issue were counted, too.
              const double rate = v.size() > 2 && v[2] > 0
                                      ? v[0] / v[2]
                                      : formula.constant.value_or(cpu_.dispatch_width);
              return wrong_path_cycles(v[0], v[1], rate);
            },
            values);
      case Formula::port_saturation:
        return propagate([](Values v) { return busiest_port_cycles(v); },
                         weighted(formula, values));
      case Formula::difference:
        return propagate(
            [&](Values v) { return positive_difference(v, std::vector<double>(v.size(), 1)); },
            weighted(formula, values));
      case Formula::call_overhead:
        return propagate(
            [&](Values v) {
              double calls = 0;
              for (const double one : v) calls += one;
              return call_overhead_cycles(calls, formula.constant.value_or(3));
            },
            weighted(formula, values));
      case Formula::collisions:
        return propagate(
            [](Values v) {
              const double alone = v[0] > 0 ? v[1] / v[0] : 1;
              return thread_collision_cycles(v[2], v[3], alone);
            },
            std::vector{values[0], values[1], *unhalted_, *unstalled_});
      case Formula::ratio:
        return divide(values[0], values[1]);
    }
    return {};
  }

  static std::vector<Estimate> weighted(const TemplateFormula& formula,
                                        std::vector<Estimate> values) {
    for (size_t i = 0; i < values.size() && i < formula.weights.size(); ++i) {
      values[i] = {values[i].value * formula.weights[i],
                   values[i].standard_error * std::fabs(formula.weights[i])};
    }
    return values;
  }

  CostNode make_level(Branch branch) const {
    CostNode node = make_branch(branch);
    node.kind = NodeKind::level;
    return node;
  }

  CostNode make_branch(Branch branch) const {
    CostNode node;
    node.kind = NodeKind::branch;
    node.branch = branch;
    node.label = branch_words(branch);
    for (size_t i = 0; i < cpu_.rows.size(); ++i) {
      const TemplateRow& row = cpu_.rows[i];
      if (row.branch != branch || row.role == Role::derive) continue;
      home(node, row.group).parts.push_back(make_event(i));
    }
    for (const TemplateFormula& formula : cpu_.formulas) {
      if (formula.branch != branch) continue;
      home(node, formula.group).parts.push_back(make_formula(formula));
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
      node.reason = coverage.reason;
      node.cycles.reset();
    } else if (coverage.coverage == Coverage::partial && node.state == NodeState::measured) {
      node.state = NodeState::partly_measured;
      node.reason = coverage.reason;
    }
  }

  void add_branches(CostNode& level, Branch first, Branch end) const {
    for (auto i = static_cast<uint8_t>(first); i < static_cast<uint8_t>(end); ++i) {
      level.parts.push_back(make_branch(static_cast<Branch>(i)));
    }
  }

  /// Levels 1 and 2 close: unhalted = stalled + unstalled, each counted or the difference.
  static void close_levels(const CostNode& unhalted, CostNode& stalled, CostNode& unstalled) {
    if (!unstalled.cycles) unstalled.cycles = info_cycles(unstalled);
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
    if (!stalled.cycles) {
      stalled.state = NodeState::not_covered;
      stalled.reason = "no event of this profile tells stalled from unstalled cycles";
    }
    if (!unstalled.cycles) {
      unstalled.state = NodeState::not_covered;
      unstalled.reason = stalled.reason;
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

  /// Cycles that a level's informing rows count (a level is no sum of branches).
  static std::optional<Estimate> info_cycles(const CostNode& level) {
    for (const CostNode& part : level.parts) {
      if (part.kind == NodeKind::event && part.cycles) return part.cycles;
    }
    return std::nullopt;
  }

  const Template& cpu_;
  const RowAmounts& amounts_;
  const CostOptions& options_;
  std::optional<Estimate> unhalted_;
  std::optional<Estimate> unstalled_;
};

}  // namespace

const CostNode* CostTree::find(Branch branch) const {
  if (branch == Branch::unhalted) return &unhalted;
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
  return TreeMaker(cpu, amounts, options).make();
}

}  // namespace culprit
