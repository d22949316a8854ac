#include "accounting/consistency.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace culprit {
namespace {

std::optional<Estimate> add_up(const Template& cpu, const RowAmounts& amounts,
                               const std::vector<ConsistencyRule::Term>& terms) {
  Estimate sum;
  for (const ConsistencyRule::Term& term : terms) {
    const auto row = std::find_if(cpu.rows.begin(), cpu.rows.end(),
                                  [&](const TemplateRow& one) { return one.event == term.event; });
    const size_t index = static_cast<size_t>(row - cpu.rows.begin());
    if (index >= amounts.size() || !amounts[index]) return std::nullopt;
    sum = sum + amounts[index]->events * term.weight;
  }
  return sum;
}

bool is_made_of(const CostNode& node, const std::string& event) {
  const bool is_it = node.row != nullptr && node.row->event == event && node.in_sum;
  return is_it || std::ranges::any_of(
                      node.parts, [&](const CostNode& part) { return is_made_of(part, event); });
}

}  // namespace

const RuleResult* find_broken_rule(const std::vector<RuleResult>& rules, const CostNode& node) {
  const RuleResult* found = nullptr;
  for (const RuleResult& result : rules) {
    const auto is_of_node = [&](const ConsistencyRule::Term& term) {
      return is_made_of(node, term.event);
    };
    if (!result.is_broken || (found != nullptr && result.difference <= found->difference)) continue;
    if (std::ranges::any_of(result.rule->left, is_of_node) ||
        std::ranges::any_of(result.rule->right, is_of_node)) {
      found = &result;
    }
  }
  return found;
}

std::vector<RuleResult> check_rules(const Template& cpu, const RowAmounts& amounts) {
  std::vector<RuleResult> results;
  for (const ConsistencyRule& rule : cpu.rules) {
    const std::optional<Estimate> left = add_up(cpu, amounts, rule.left);
    const std::optional<Estimate> right = add_up(cpu, amounts, rule.right);
    if (!left || !right) continue;
    RuleResult result{&rule, *left, *right, 0, false};
    const double larger = std::max(std::fabs(left->value), std::fabs(right->value));
    const double difference = std::fabs(left->value - right->value);
    if (larger > 0) result.difference = difference / larger;
    const double error = (*left + *right).standard_error;
    result.is_broken = difference > rule.tolerance * larger + 2 * error;
    results.push_back(result);
  }
  return results;
}

}  // namespace culprit
