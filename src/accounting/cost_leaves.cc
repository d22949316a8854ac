#include "accounting/cost_leaves.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "accounting/formulas.h"

namespace culprit {
namespace {

/// The cycles of one event. Nothing: its cost is not known here.
std::optional<double> cycles_per_event(const Penalty& penalty, const CostOptions& options) {
  if (!penalty.value) return std::nullopt;
  if (penalty.unit != PenaltyUnit::ns) return penalty.value;
  if (!options.hertz) return std::nullopt;
  return *penalty.value * *options.hertz / 1e9;
}

/// A maximum, or a sum of calls, is at least what those give that were measured; each
/// operand of the others has its own meaning.
bool can_do_without(Formula formula, size_t operand) {
  switch (formula) {
    case Formula::port_saturation:
    case Formula::call_overhead:
      return true;
    case Formula::wrong_path:
    case Formula::ratio:
    case Formula::collisions:
      return operand >= 2;
    case Formula::difference:
      return false;
  }
  return false;
}

}  // namespace

Provenance weaker(Provenance a, Provenance b) {
  return std::max(a, b);
}

std::string describe_missing(const std::vector<std::string>& events) {
  constexpr size_t kNamed = 2;
  std::string text = "not recorded: " + events.front();
  for (size_t i = 1; i < std::min(events.size(), kNamed); ++i) text += ", " + events[i];
  if (events.size() > kNamed) text += fmt::format(" and {} more", events.size() - kNamed);
  return text;
}

void CostLeaves::be_unrecorded(CostNode& node, std::vector<std::string> missing) const {
  node.state = NodeState::not_recorded;
  if (!has_words_) return;
  node.missing = std::move(missing);
  node.reason = describe_missing(node.missing);
}

CostNode CostLeaves::make_event(size_t index) const {
  const TemplateRow& row = cpu_.rows[index];
  CostNode node;
  node.kind = NodeKind::event;
  node.branch = row.branch;
  if (has_words_) node.label = row.label;
  node.row = &row;
  node.in_sum = row.role == Role::sum;
  node.amount = index < amounts_.size() ? amounts_[index] : std::nullopt;
  if (!node.amount) {
    be_unrecorded(node, has_words_ ? std::vector{row.event} : std::vector<std::string>());
    return node;
  }
  const bool has_cycles = row.role == Role::sum || row.role == Role::bound ||
                          (row.penalty.value && *row.penalty.value != 0);
  if (!has_cycles) return node;
  if (const std::optional<double> each = cycles_per_event(row.penalty, options_)) {
    node.cycles = node.amount->events * *each;
    const bool is_count_of_cycles = row.penalty.unit == PenaltyUnit::cycles && *each == 1;
    node.provenance = is_count_of_cycles ? node.amount->provenance : Provenance::modelled;
  } else {
    node.state = NodeState::not_covered;
    node.reason = row.penalty.unit == PenaltyUnit::ns
                      ? "its cost is in ns, and the clock of this machine is not known"
                      : "what it costs was not measured on this machine";
  }
  return node;
}

CostLeaves::Operands CostLeaves::take_operands(const TemplateFormula& formula) const {
  Operands operands;
  for (size_t i = 0; i < formula.operands.size(); ++i) {
    const auto row = std::find_if(cpu_.rows.begin(), cpu_.rows.end(), [&](const TemplateRow& one) {
      return one.event == formula.operands[i];
    });
    const size_t index = static_cast<size_t>(row - cpu_.rows.begin());
    if (index >= amounts_.size() || !amounts_[index]) {
      operands.missing.push_back(formula.operands[i]);
      continue;
    }
    const double weight = i < formula.weights.size() ? formula.weights[i] : 1;
    operands.values.push_back(amounts_[index]->events * weight);
    operands.provenance = weaker(operands.provenance, amounts_[index]->provenance);
  }
  return operands;
}

CostNode CostLeaves::make_formula(const TemplateFormula& formula) const {
  CostNode node;
  node.kind = NodeKind::formula;
  node.branch = formula.branch;
  if (has_words_) node.label = formula.label;
  node.formula = &formula;
  node.in_sum = formula.role == Role::sum;
  node.is_linear = formula.formula == Formula::call_overhead;
  if (formula.formula == Formula::collisions && !options_.is_counting) {
    node.state = NodeState::not_covered;
    node.reason = "an estimate for counts of whole runs only (culprit stat)";
    return node;
  }
  if (formula.operands.empty()) {
    node.state = NodeState::not_recorded;
    node.reason = "known from branch records only (culprit report --columns executions)";
    return node;
  }
  Operands operands = take_operands(formula);
  const bool lacks_one =
      std::any_of(operands.missing.begin(), operands.missing.end(), [&](const std::string& event) {
        const auto at = std::find(formula.operands.begin(), formula.operands.end(), event);
        return !can_do_without(formula.formula, static_cast<size_t>(at - formula.operands.begin()));
      });
  if (lacks_one || operands.values.empty()) {
    be_unrecorded(node, std::move(operands.missing));
    return node;
  }
  if (formula.formula == Formula::collisions && (!unhalted_ || !unstalled_)) {
    node.state = NodeState::not_recorded;
    node.reason = "unhalted or unstalled cycles are not known";
    return node;
  }
  if (!operands.missing.empty() && can_do_without(formula.formula, 0)) {
    be_unrecorded(node, std::move(operands.missing));
    node.state = NodeState::partly_measured;
  }
  const Estimate value = compute(formula, operands.values);
  if (formula.formula == Formula::ratio) {
    node.ratio = value;
    node.provenance = operands.provenance;
  } else {
    node.cycles = value;
    // The busiest port's cycles were counted; the others are arithmetic.
    node.provenance =
        formula.formula == Formula::port_saturation ? operands.provenance : Provenance::modelled;
  }
  return node;
}

Estimate CostLeaves::compute(const TemplateFormula& formula,
                             const std::vector<Estimate>& values) const {
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
      return propagate([](Values v) { return busiest_port_cycles(v); }, values);
    case Formula::difference:
      return propagate([](Values v) { return positive_sum(v); }, values);
    case Formula::call_overhead:
      return propagate(
          [&](Values v) {
            const double calls = std::accumulate(v.begin(), v.end(), 0.0);
            return call_overhead_cycles(calls, formula.constant.value_or(3));
          },
          values);
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

}  // namespace culprit
