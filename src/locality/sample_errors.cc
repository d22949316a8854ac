#include "locality/sample_errors.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "stats/estimate.h"
#include "stats/student.h"

namespace culprit {
namespace {

bool is_seen_enough(std::span<const uint64_t> groups) {
  const auto seen =
      std::count_if(groups.begin(), groups.end(), [](uint64_t one) { return one != 0; });
  return seen >= kFewestGroups;
}

/// Half of the interval of a sum over all sets, by how the values of the random groups differ: that
/// of the group i is value(i), and `seen` of them have any.
template <class Value>
double half_width_of(size_t seen, const SetSampling& sampling, Value value) {
  // Groups in which nothing was seen count, too.
  const size_t groups = std::max<size_t>(seen, sampling.random_groups);
  const auto of = [&](size_t i) { return i < seen ? value(i) : 0.0; };
  double mean = 0;
  for (size_t i = 0; i < groups; ++i) mean += of(i) / static_cast<double>(groups);
  double squares = 0;
  for (size_t i = 0; i < groups; ++i) squares += (of(i) - mean) * (of(i) - mean);
  const double n = static_cast<double>(groups);
  const double left_out = 1 - 1.0 / sampling.one_of;
  const double variance = n * squares / (n - 1) * left_out;
  return student_quantile95(n - 1) * std::sqrt(variance);
}

}  // namespace

SampleError estimate_sum_error(std::span<const uint64_t> groups, const SetSampling& sampling) {
  if (sampling.one_of == 1) return {true, 0};
  if (!is_seen_enough(groups)) return {false, std::nullopt};
  const double by_groups = half_width_of(groups.size(), sampling,
                                         [&](size_t i) { return static_cast<double>(groups[i]); });
  const double drawn = std::accumulate(groups.begin(), groups.end(), 0.0);
  const double by_events = kNormal95 * std::sqrt(drawn * (sampling.one_of - 1.0));
  return {false, std::max(by_groups, by_events)};
}

SampleError estimate_ratio_error(std::span<const uint64_t> above, std::span<const uint64_t> below,
                                 std::span<const uint64_t> events, double ratio, double total_below,
                                 const SetSampling& sampling) {
  if (sampling.one_of == 1) return {true, 0};
  if (!is_seen_enough(events) || !(total_below > 0)) return {false, std::nullopt};
  const double by_groups =
      half_width_of(events.size(), sampling,
                    [&](size_t i) {
                      return static_cast<double>(above[i]) - ratio * static_cast<double>(below[i]);
                    }) /
      total_below;
  const double seen =
      std::accumulate(events.begin(), events.end(), 0.0) / static_cast<double>(sampling.one_of);
  constexpr double kRuleOfThree = 3;
  return {false, std::max(by_groups, ratio * kRuleOfThree / seen)};
}

std::string format_estimate(double value, const SampleError& error, int decimals,
                            const char* unit) {
  if (error.is_exact) return fmt::format("{:.{}f}{}", value, decimals, unit);
  if (!error.half_width) return fmt::format("{:.{}f}{}*", value, decimals, unit);
  // No more digits than the error lets mean anything.
  constexpr double kRoundsToOne = 0.95;
  while (decimals > 0 && *error.half_width * std::pow(10, decimals - 1) >= kRoundsToOne) --decimals;
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::string error_text = fmt::format("{:.{}f}", *error.half_width, decimals);
  const bool is_shown = error_text.find_first_not_of("0.") != std::string::npos;
  return text + (is_shown ? "±" + error_text : "") + unit;
}

}  // namespace culprit
