#include "scan/timing.h"

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

std::string write_timing(const PairedTimes& timing) {
  std::string out = fmt::format("{} {}", timing.least_runs, timing.most_runs);
  for (const TimedPair& pair : timing.pairs) {
    out += fmt::format("\n{} {}", pair.least_ns, pair.most_ns);
  }
  return out;
}

std::optional<PairedTimes> parse_timing(std::string_view text) {
  PairedTimes timing;
  bool is_first = true;
  for (const std::string_view line : split(text, '\n')) {
    const auto two = read_two(line);
    if (!two) return std::nullopt;
    if (is_first) {
      std::tie(timing.least_runs, timing.most_runs) = *two;
      if (timing.least_runs >= timing.most_runs) return std::nullopt;
    } else {
      timing.pairs.push_back({two->first, two->second});
    }
    is_first = false;
  }
  return is_first ? std::nullopt : std::optional(std::move(timing));
}

std::optional<Estimate> estimate_time(const PairedTimes& timing, uint64_t iterations_per_run) {
  if (timing.pairs.size() < kLeastPairs) return std::nullopt;
  const double iterations = static_cast<double>(timing.most_runs - timing.least_runs) *
                            static_cast<double>(iterations_per_run);
  std::vector<double> slopes;
  slopes.reserve(timing.pairs.size());
  for (const TimedPair& pair : timing.pairs) {
    slopes.push_back((static_cast<double>(pair.most_ns) - static_cast<double>(pair.least_ns)) /
                     iterations);
  }
  const double median = compute_median(slopes);
  const Interval interval = median_interval(slopes);
  return Estimate{median, std::max(interval.high - median, median - interval.low) / kNormal95};
}

std::optional<Estimate> find_time(const Cell& cell) {
  const auto timing = parse_timing(cell.detail(kTimingLabel));
  return timing ? estimate_time(*timing, cell.iterations_per_run()) : std::nullopt;
}

double relative_half_width(const Estimate& time) {
  if (!(time.value > 0)) return std::numeric_limits<double>::infinity();
  return kNormal95 * time.standard_error / time.value;
}

}  // namespace culprit::scan
