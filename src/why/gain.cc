#include "why/gain.h"

#include <algorithm>
#include <cmath>

namespace culprit {
namespace {

/// What a second run leaves out that a real repair does not: its own instructions. A round figure.
constexpr double kRepairError = 0.15;

/// How wrong a class of the model's cost is taken to be, as a part of it: one standard deviation.
/// Source: judgement, in this order; they are fitted to nothing
double spread_of(CostBranch branch) {
  switch (branch) {
    case CostBranch::load_latency:
    case CostBranch::bandwidth_saturation:
    case CostBranch::microcode_exceptions:
    case CostBranch::multithread_collisions:
      return 1;
    case CostBranch::store_resource_saturation:
      return 0.7;
    case CostBranch::instruction_starvation:  // mostly taken branches, one a cycle
      return 0.4;
    case CostBranch::branch_misprediction:
    case CostBranch::function_call_overhead:
      return 0.5;
    case CostBranch::instruction_latency:
    case CostBranch::instruction_serialization:
    case CostBranch::port_saturation:
      return 0.3;
    default:
      return 0.1;
  }
}

struct Spread {
  double own = 0;  // variance of the branch's cost
  double all = 0;
};

double deviation_of(const CostNode& node, const PlaceTime& time) {
  const double own = spread_of(node.branch) * node.cycles->value;
  if (node.branch == CostBranch::load_latency) return std::max(own, time.slow_latency);
  if (node.branch == CostBranch::bandwidth_saturation) return std::max(own, time.slow_bandwidth);
  return own;
}

Spread add_spreads(const CostTree& tree, CostBranch branch, const PlaceTime& time) {
  Spread spread;
  double rest = time.modelled;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& node : level.parts) {
      if (node.kind != NodeKind::branch || !node.cycles) continue;
      const double variance = std::pow(deviation_of(node, time), 2);
      if (node.branch == branch) spread.own = variance;
      spread.all += variance;
      rest -= node.cycles->value;
    }
  }
  spread.all += std::pow(spread_of(CostBranch::unstalled) * std::max(0.0, rest), 2);
  return spread;
}

}  // namespace

double allow_for_skid(double measured, double modelled, double excess) {
  return std::max(measured, modelled - excess);
}

double find_deviation(const CostTree& tree, const PlaceTime& time) {
  return std::sqrt(add_spreads(tree, CostBranch::general, time).all);
}

double find_deviation(const CostTree& tree, CostBranch branch, const PlaceTime& time) {
  return std::sqrt(add_spreads(tree, branch, time).own);
}

GainForecast forecast_gain(const CostTree& tree, CostBranch branch, double replay_gain,
                           const PlaceTime& time) {
  if (!(time.whole > 0)) return {};
  const Spread spread = add_spreads(tree, branch, time);
  double gain = std::max(0.0, replay_gain) * time.modelled;
  double most = time.modelled;
  double variance = spread.own + std::pow(kRepairError * gain, 2);
  if (time.measured) {
    const double chance = std::pow(time.measured->standard_error, 2);
    const double of_own = spread.own / std::max(spread.all + time.others_variance + chance, 1e-9);
    gain += (time.measured->value - time.modelled) * of_own;
    variance -= spread.own * of_own;
    most = time.measured->value + time.measured->standard_error;
  }
  gain = std::clamp(gain, 0.0, most);
  const double reach = kNormal90 * std::sqrt(std::max(0.0, variance));
  const auto share = [&](double cycles) {
    return std::clamp(std::min(cycles, most) / time.whole, 0.0, 1.0);
  };
  return {share(gain), share(gain - reach), share(gain + reach)};
}

}  // namespace culprit
