#include "scan/native_costs.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "base/number.h"
#include "base/text.h"
#include "stats/robust.h"

namespace culprit::scan {
namespace {

/// Both numbers of a line; nullopt: there are not two.
std::optional<std::pair<uint64_t, uint64_t>> read_two(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto first = find_number(line.substr(0, blank), 10);
  const auto second = find_number(line.substr(blank + 1), 10);
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

}  // namespace

std::string write_pairs(const PairedCounts& counts) {
  std::string out = fmt::format("{} {}", counts.least_runs, counts.most_runs);
  for (const CountPair& pair : counts.pairs) out += fmt::format("\n{} {}", pair.least, pair.most);
  return out;
}

std::optional<PairedCounts> parse_pairs(std::string_view text) {
  PairedCounts counts;
  bool is_first = true;
  for (const std::string_view line : split(text, '\n')) {
    const auto two = read_two(line);
    if (!two) return std::nullopt;
    if (is_first) {
      std::tie(counts.least_runs, counts.most_runs) = *two;
      if (counts.least_runs >= counts.most_runs) return std::nullopt;
    } else {
      counts.pairs.push_back({two->first, two->second});
    }
    is_first = false;
  }
  return is_first ? std::nullopt : std::optional(std::move(counts));
}

std::optional<Estimate> estimate_cost(const PairedCounts& counts, uint64_t iterations_per_run) {
  if (counts.pairs.size() < kLeastPairs) return std::nullopt;
  const double iterations = static_cast<double>(counts.most_runs - counts.least_runs) *
                            static_cast<double>(iterations_per_run);
  std::vector<double> slopes;
  slopes.reserve(counts.pairs.size());
  for (const CountPair& pair : counts.pairs) {
    slopes.push_back((static_cast<double>(pair.most) - static_cast<double>(pair.least)) /
                     iterations);
  }
  const double median = compute_median(slopes);
  const Interval interval = median_interval(slopes);
  return Estimate{median, std::max(interval.high - median, median - interval.low) / kNormal95};
}

std::string find_native_label(std::string_view name) {
  if (name == kTime) return std::string(kTimingLabel);
  if (!name.starts_with(kNativePrefix)) return "";
  return fmt::format("{}{}", kCountedLabelPrefix, name.substr(kNativePrefix.size()));
}

std::vector<std::string> list_native_names(const Cell& cell) {
  std::vector<std::string> names;
  for (const auto& [label, text] : cell.details) {
    if (label == kTimingLabel) names.emplace_back(kTime);
    if (!label.starts_with(kCountedLabelPrefix)) continue;
    names.push_back(fmt::format("{}{}", kNativePrefix, label.substr(kCountedLabelPrefix.size())));
  }
  return names;
}

std::optional<Estimate> find_native_cost(const Cell& cell, std::string_view name) {
  const auto pairs = parse_pairs(cell.detail(find_native_label(name)));
  return pairs ? estimate_cost(*pairs, cell.iterations_per_run()) : std::nullopt;
}

double relative_half_width(const Estimate& cost) {
  if (!(cost.value > 0)) return std::numeric_limits<double>::infinity();
  return kNormal95 * cost.standard_error / cost.value;
}

bool is_within(const Estimate& count, double percent) {
  return 100 * kNormal95 * count.standard_error <= percent * std::max(count.value, 1.0);
}

}  // namespace culprit::scan
