#include "accounting/formulas.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace culprit {

double wrong_path_cycles(double issued, double retired, double issue_rate) {
  if (!(issue_rate > 0)) return 0;
  return std::max(0.0, issued - retired) / issue_rate;
}

double busiest_port_cycles(std::span<const double> ports) {
  return ports.empty() ? 0 : *std::max_element(ports.begin(), ports.end());
}

double call_overhead_cycles(double calls, double cycles_per_call) {
  return calls * cycles_per_call;
}

double thread_collision_cycles(double unhalted, double unstalled, double alone) {
  if (!(unhalted > 0)) return 0;
  const double shared = unhalted * (1 - std::clamp(alone, 0.0, 1.0));
  const double active = std::clamp(unstalled / unhalted, 0.0, 1.0);
  return shared * active * active / 2;
}

double positive_sum(std::span<const double> weighted) {
  return std::max(0.0, std::accumulate(weighted.begin(), weighted.end(), 0.0));
}

Estimate propagate(const std::function<double(std::span<const double>)>& function,
                   std::span<const Estimate> operands) {
  std::vector<double> values;
  for (const Estimate& operand : operands) values.push_back(operand.value);
  const double value = function(values);
  double variance = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const double step = operands[i].standard_error;
    if (step == 0) continue;
    values[i] = operands[i].value + step;
    const double above = function(values);
    values[i] = operands[i].value - step;
    const double below = function(values);
    values[i] = operands[i].value;
    const double change = (above - below) / 2;
    variance += change * change;
  }
  return {value, std::sqrt(variance)};
}

}  // namespace culprit
