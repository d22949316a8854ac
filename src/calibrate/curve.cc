#include "calibrate/curve.h"

#include <algorithm>
#include <cmath>

#include "stats/robust.h"

namespace culprit {
namespace {

/// Where the curve, from `begin` on, passes a level, between its points by their logarithms.
std::optional<double> find_crossing(const Curve& curve, uint64_t begin, double level) {
  for (auto point = curve.lower_bound(begin); point != curve.end(); ++point) {
    const auto next = std::next(point);
    if (next == curve.end()) break;
    if (point->second > level || next->second <= level) continue;
    const double part = (level - point->second) / (next->second - point->second);
    const double low = std::log(static_cast<double>(point->first));
    const double high = std::log(static_cast<double>(next->first));
    return std::exp(low + part * (high - low));
  }
  return std::nullopt;
}

}  // namespace

std::vector<CurvePoint> summarize_curves(const std::vector<Curve>& rounds) {
  std::vector<CurvePoint> points;
  if (rounds.empty()) return points;
  for (const auto& [bytes, ignored] : rounds.front()) {
    std::vector<double> cycles;
    for (const Curve& round : rounds) {
      if (const auto found = round.find(bytes); found != round.end()) {
        cycles.push_back(found->second);
      }
    }
    if (cycles.size() != rounds.size()) continue;
    const auto [least, most] = std::minmax_element(cycles.begin(), cycles.end());
    points.push_back({bytes, compute_median(cycles), {*least, *most}});
  }
  return points;
}

std::optional<LatencyStep> find_step(const Curve& curve, uint64_t begin) {
  const auto first = curve.lower_bound(begin);
  if (first == curve.end()) return std::nullopt;
  const double near = first->second;
  const double far = curve.rbegin()->second;
  if (!(near > 0) || !(far > near)) return std::nullopt;
  const auto pass = [&](double part) {
    return find_crossing(curve, begin, near * std::pow(far / near, part));
  };
  const std::optional<double> quarter = pass(0.25);
  const std::optional<double> half = pass(0.5);
  const std::optional<double> most = pass(0.75);
  if (!quarter || !half || !most) return std::nullopt;
  return LatencyStep{*half, std::max(1.0, *most / *quarter)};
}

}  // namespace culprit
