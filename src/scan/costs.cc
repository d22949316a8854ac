#include "scan/costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "model/counts.h"

namespace culprit::scan {
namespace {

/// What was counted at one place: of each event the counts of the runs, one behind the other.
class Table {
 public:
  Table(size_t events, size_t runs) : runs_(runs), counts_(events * runs) {}
  std::span<uint64_t> of(size_t event) { return std::span(counts_).subspan(event * runs_, runs_); }
  [[nodiscard]] std::span<const uint64_t> of(size_t event) const {
    return std::span(counts_).subspan(event * runs_, runs_);
  }

 private:
  size_t runs_;
  std::vector<uint64_t> counts_;
};

/// Two slopes that differ by so many standard errors are not the same by chance. A cell has some
/// hundred instructions: one in a hundred thousand cells is wrongly refused.
constexpr double kChance = 6;

/// What happens less often than once in so many iterations, outside the kernel's functions, is
/// taken to belong to none of them.
constexpr double kSeldom = 0.02;
constexpr double kFew = 10;

struct Slopes {
  double all = 0;    // from the first to the last loop count, per run
  double first = 0;  // between the first two
  double last = 0;   // between the last two
  bool is_exact = true;
};

double difference(uint64_t from, uint64_t to) {
  return from <= to ? static_cast<double>(to - from) : -static_cast<double>(from - to);
}

/// Whether three or more counts lie on one line, in integers.
bool lie_on_a_line(std::span<const uint64_t> counts, const std::vector<Point>& points) {
  const auto step = [](uint64_t from, uint64_t to) {
    return static_cast<__int128>(to) - static_cast<__int128>(from);
  };
  for (size_t i = 2; i < counts.size(); ++i) {
    if (step(counts[0], counts[1]) * step(points[i - 1].runs, points[i].runs) !=
        step(counts[i - 1], counts[i]) * step(points[0].runs, points[1].runs)) {
      return false;
    }
  }
  return true;
}

Slopes find_slopes(std::span<const uint64_t> counts, const std::vector<Point>& points) {
  const size_t end = counts.size() - 1;
  const auto slope = [&](size_t from, size_t to) {
    return difference(counts[from], counts[to]) / difference(points[from].runs, points[to].runs);
  };
  return {slope(0, end), slope(0, 1), slope(end - 1, end), lie_on_a_line(counts, points)};
}

/// How the executions of one instruction depend on the loop count.
Behaviour classify(std::span<const uint64_t> counts, const std::vector<Point>& points,
                   double per_run, bool is_kernels) {
  const bool is_constant = std::all_of(counts.begin(), counts.end(),
                                       [&](uint64_t count) { return count == counts.front(); });
  if (is_constant) return Behaviour::once;  // what differs there is of no iteration
  const Slopes slopes = find_slopes(counts, points);
  const double executions = difference(counts.front(), counts.back());
  const double iterations = difference(points.front().runs, points.back().runs) * per_run;
  const bool is_seldom = std::abs(executions) < std::max(kFew, kSeldom * iterations);
  const bool has_fraction = std::fmod(executions, iterations) != 0;
  if (slopes.is_exact && (points.size() > 2 || !has_fraction)) return Behaviour::steady;
  if (executions < 0 || (is_seldom && !is_kernels)) return Behaviour::once;
  if (points.size() == 2) return Behaviour::varying;  // nothing to judge it by
  // Counts vary by chance: the variance of a count is the count.
  const double variance =
      slopes.all / difference(points[0].runs, points[1].runs) +
      slopes.all / difference(points[points.size() - 2].runs, points.back().runs);
  const double apart = std::abs(slopes.last - slopes.first);
  return apart > kChance * std::sqrt(variance) ? Behaviour::growing : Behaviour::varying;
}

Estimate cost_of(std::span<const uint64_t> counts, const std::vector<Point>& points, double unit) {
  const Slopes slopes = find_slopes(counts, points);
  const double error = slopes.is_exact ? 0 : std::abs(slopes.last - slopes.first) / 2;
  return {slopes.all * unit, error * unit};
}

/// All counts of a cell by place.
using Places = std::map<Location, Table>;

}  // namespace

size_t find_event(const Profile& profile, std::string_view name) {
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == name) return event;
  }
  return SIZE_MAX;
}

CostReader::CostReader(const Profile& profile)
    : profile_(profile),
      histograms_(profile.runs.size()),
      instructions_(find_event(profile, "instructions")) {
  for (size_t i = 0; i < profile.histograms.size(); ++i) {
    const ContextId context = profile.histograms[i].context;
    if (context.value >= profile.contexts.size()) continue;
    const RunId run = profile.contexts[context.value].run;
    if (run.value < histograms_.size()) histograms_[run.value].push_back(static_cast<uint32_t>(i));
  }
}

std::optional<CellCosts> CostReader::compute(const Cell& cell, const FunctionOf& function) const {
  const size_t runs = cell.points.size();
  if (runs < 2 || instructions_ == SIZE_MAX) return std::nullopt;
  const size_t events = profile_.events.size();
  Places places;
  for (size_t run = 0; run < runs; ++run) {
    for (const uint32_t histogram : histograms_[cell.points[run].run.value]) {
      for_each_count(profile_, profile_.histograms[histogram],
                     [&](const Location& at, size_t event, const Sum& sum) {
                       const auto table = places.try_emplace(at, events, runs).first;
                       table->second.of(event)[run] += sum.value;
                     });
    }
  }
  CellCosts costs;
  costs.first_runs = cell.points.front().runs;
  costs.last_runs = cell.points.back().runs;
  costs.is_checked = runs > 2;
  costs.totals.resize(events);
  const double per_run = static_cast<double>(cell.iterations_per_run());

  // The kernel's functions are those with instructions that each iteration executes.
  std::set<uint64_t> kernels;
  std::vector<std::pair<uint64_t, Behaviour>> known;
  bool all_are_steady = true;
  for (const auto& [at, table] : places) {
    const Behaviour behaviour = classify(table.of(instructions_), cell.points, per_run, false);
    all_are_steady = all_are_steady && behaviour == Behaviour::steady;
  }
  const auto function_of = [&](const Location& at) { return all_are_steady ? 0 : function(at); };
  for (const auto& [at, table] : places) {
    const std::span<const uint64_t> counts = table.of(instructions_);
    if (counts.front() >= counts.back()) continue;
    if (classify(counts, cell.points, per_run, false) == Behaviour::steady) {
      kernels.insert(function_of(at));
    }
  }
  for (const auto& [at, table] : places) {
    PlaceCost place{at, Behaviour::steady, std::vector<Estimate>(events), 0};
    const std::span<const uint64_t> counts = table.of(instructions_);
    place.behaviour = classify(counts, cell.points, per_run, kernels.contains(function_of(at)));
    place.executions = difference(counts.front(), counts.back());
    costs.varies = costs.varies || place.behaviour == Behaviour::varying;
    costs.is_refused = costs.is_refused || place.behaviour == Behaviour::growing;
    for (size_t event = 0; event < events; ++event) {
      place.per_iteration[event] =
          cost_of(table.of(event), cell.points, profile_.events[event].scale / per_run);
    }
    if (place.behaviour != Behaviour::once) {
      for (size_t event = 0; event < events; ++event) {
        Estimate& total = costs.totals[event];
        total.value += place.per_iteration[event].value;
        // Places of one loop err together.
        total.standard_error += place.per_iteration[event].standard_error;
      }
    }
    costs.places.push_back(std::move(place));
  }
  return costs;
}

void keep_what_differs(Profile& profile) {
  // The sums of all that was counted stay.
  std::map<std::pair<ContextId, EventId>, uint64_t> sums;
  std::map<Location, std::map<EventId, std::map<ContextId, uint64_t>>> places;
  std::set<ContextId> contexts;
  for (const Histogram& histogram : profile.histograms) {
    contexts.insert(histogram.context);
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      sums[{histogram.context, EventId(event)}] += sum.value;
      places[at][EventId(event)][histogram.context] += sum.value;
    });
  }
  for (const auto& [key, value] : sums) {
    Count count;
    count.context = key.first;
    count.event = key.second;
    count.value = value;
    profile.counts.push_back(count);
  }
  const auto differs = [&](const Location& at) {
    for (const auto& [event, values] : places[at]) {
      if (values.size() < contexts.size()) return true;
      for (const auto& [context, value] : values) {
        if (value != values.begin()->second) return true;
      }
    }
    return false;
  };
  for (Histogram& histogram : profile.histograms) {
    size_t kept = 0;
    for (size_t row = 0; row < histogram.offsets.size(); ++row) {
      if (!differs({histogram.image, histogram.offsets[row]})) continue;
      histogram.offsets[kept] = histogram.offsets[row];
      if (!histogram.objects.empty()) histogram.objects[kept] = histogram.objects[row];
      for (EventColumn& column : histogram.columns) {
        column.samples[kept] = column.samples[row];
        column.value[kept] = column.value[row];
        if (!column.variance.empty()) column.variance[kept] = column.variance[row];
      }
      ++kept;
    }
    histogram.offsets.resize(kept);
    if (!histogram.objects.empty()) histogram.objects.resize(kept);
    for (EventColumn& column : histogram.columns) {
      column.samples.resize(kept);
      column.value.resize(kept);
      if (!column.variance.empty()) column.variance.resize(kept);
    }
  }
  std::erase_if(profile.histograms, [](const Histogram& one) { return one.offsets.empty(); });
}

}  // namespace culprit::scan
