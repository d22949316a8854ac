#include "scan/expectations.h"

#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "scan/native_costs.h"
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

/// One side of an expectation.
Result<Expression> read_side(const Plan& plan, const Expectation& expectation,
                             const std::string& side, const Quantities& quantities) {
  Result<Expression> expression = quantities.parse(side);
  if (expression) return expression;
  return Error{fmt::format("{}, line {}: {}", printable(plan.file), expectation.line,
                           expression.error().message)};
}

}  // namespace

Result<void> read_expectations(const Plan& plan, const std::vector<std::string>& events,
                               const std::vector<Preset>& presets) {
  Profile profile;
  for (const std::string& event : events) {
    profile.events.emplace_back();
    profile.events.back().name = profile.strings.intern(event);
  }
  Cell cell;
  for (const Parameter& one : plan.parameters) cell.name.parameters.push_back({one.name, "1"});
  for (const std::string& name : plan.native_names()) {
    cell.details.emplace(find_native_label(name), "1");
  }
  const std::vector<Cell> cells = {cell};
  const Quantities quantities(profile, cells, presets);
  for (const Expectation& one : plan.expectations) {
    RETURN_IF_ERROR(read_side(plan, one, one.left, quantities));
    RETURN_IF_ERROR(read_side(plan, one, one.right, quantities));
  }
  return {};
}

Result<std::vector<Broken>> check_expectations(const Plan& plan, const Quantities& quantities,
                                               const std::vector<Cell>& cells,
                                               const std::vector<std::optional<CellCosts>>& costs) {
  std::vector<Broken> broken;
  for (const Expectation& one : plan.expectations) {
    ASSIGN_OR_RETURN(const Expression left, read_side(plan, one, one.left, quantities));
    ASSIGN_OR_RETURN(const Expression right, read_side(plan, one, one.right, quantities));
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

}  // namespace culprit::scan
