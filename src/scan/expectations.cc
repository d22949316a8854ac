#include "scan/expectations.h"

#include <cmath>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

/// Sums of fractions differ in their last digits.
constexpr double kRounding = 1e-9;

bool holds(double left, const std::string& comparison, double right) {
  const double slack = kRounding * std::max({1.0, std::abs(left), std::abs(right)});
  if (comparison == ">=") return left >= right - slack;
  if (comparison == "<=") return left <= right + slack;
  if (comparison == ">") return left > right + slack;
  if (comparison == "<") return left < right - slack;
  return std::abs(left - right) <= slack;
}

}  // namespace

Result<std::vector<Broken>> check_expectations(const Plan& plan, const Quantities& quantities,
                                               const std::vector<Cell>& cells,
                                               const std::vector<std::optional<CellCosts>>& costs) {
  std::vector<Broken> broken;
  for (const Expectation& one : plan.expectations) {
    const auto parse = [&](const std::string& text) -> Result<Expression> {
      Result<Expression> expression = quantities.parse(text);
      if (expression) return expression;
      return Error{fmt::format("{}, line {}: {}", printable(plan.file), one.line,
                               expression.error().message)};
    };
    ASSIGN_OR_RETURN(const Expression left, parse(one.left));
    ASSIGN_OR_RETURN(const Expression right, parse(one.right));
    for (size_t i = 0; i < cells.size(); ++i) {
      const CellCosts* const cost = costs[i] ? &*costs[i] : nullptr;
      const auto a = quantities.evaluate(left, cells[i], cost);
      const auto b = quantities.evaluate(right, cells[i], cost);
      if (!a || !b || holds(a->value, one.comparison, b->value)) continue;
      broken.push_back(
          {i, fmt::format("{} {} {}: {} is not {} {}", one.left, one.comparison, one.right,
                          format_cost(*a), one.comparison, format_cost(*b))});
    }
  }
  return broken;
}

std::vector<Broken> find_other_outputs(const std::vector<Cell>& cells) {
  std::vector<Broken> out;
  std::map<std::string, const Cell*> firsts;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (!cell.is_measured()) continue;
    std::string key = cell.name.program;
    for (const Variable& one : cell.name.parameters) key += '\0' + one.name + '\0' + one.value;
    const auto [first, is_new] = firsts.try_emplace(key, &cell);
    if (is_new || first->second->detail(kOutputLabel) == cell.detail(kOutputLabel)) continue;
    out.push_back({i, "prints something else than with " + first->second->name.setup});
  }
  return out;
}

}  // namespace culprit::scan
