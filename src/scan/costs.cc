#include "scan/costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "model/counts.h"
#include "model/rows.h"

namespace culprit::scan {
namespace {

/// All that was counted of a cell: by place, of each event the counts of its runs.
class Counted {
 public:
  Counted(size_t events, size_t runs) : events_(events), runs_(runs) {}

  void add(const Location& at, size_t event, size_t run, uint64_t count) {
    // Events of a place come one behind the other.
    if (last_ == places_.end() || last_->first != at) {
      bool is_new = false;
      std::tie(last_, is_new) = places_.try_emplace(at, places_.size());
      if (is_new) counts_.resize(counts_.size() + events_ * runs_);
    }
    counts_[(last_->second * events_ + event) * runs_ + run] += count;
  }

  /// Their numbers, by location.
  [[nodiscard]] const std::map<Location, size_t>& places() const { return places_; }
  [[nodiscard]] std::span<const uint64_t> of(size_t place, size_t event) const {
    return std::span(counts_).subspan((place * events_ + event) * runs_, runs_);
  }

 private:
  const size_t events_;
  const size_t runs_;
  std::map<Location, size_t> places_;
  std::map<Location, size_t>::const_iterator last_ = places_.end();
  std::vector<uint64_t> counts_;
};

/// Two slopes that differ by so many standard errors are not the same by chance. A cell has some
/// hundred instructions: one in a hundred thousand cells is wrongly refused.
constexpr double kChance = 6;

/// What happens less often than once in so many iterations, outside the kernel's functions, is
/// taken to belong to none of them.
constexpr double kSeldom = 0.02;
constexpr double kFew = 10;

/// What runs counted of one event, over all places of the iterations. Predictors and caches warm up
/// before they settle, not in each run alike: (5, 1, 1) mispredictions at three loop counts are of
/// start-up, though their slope is below 0.
struct StartUp {
  double first = 0;  // at the least loop count
  double last = 0;   // at the largest

  void add(uint64_t at_first, uint64_t at_last) {
    first += static_cast<double>(at_first);
    last += static_cast<double>(at_last);
  }
  /// Whether the few counts that they differ by may be chance, whose variance is the count.
  [[nodiscard]] bool is_all(double iterations) const {
    const double apart = std::abs(last - first);
    return apart < kFew && apart < kSeldom * iterations && apart <= 2 * std::sqrt(first + last);
  }
};

/// 0, with the value as its error.
Estimate without_start_up(const Estimate& cost) {
  return {0, std::max(cost.standard_error, std::abs(cost.value))};
}

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

bool are_one_number(std::span<const uint64_t> counts) {
  return std::all_of(counts.begin(), counts.end(),
                     [&](uint64_t count) { return count == counts.front(); });
}

/// How the executions of one instruction depend on the loop count.
Behaviour classify(std::span<const uint64_t> counts, const std::vector<Point>& points,
                   double per_run, bool is_kernels) {
  if (are_one_number(counts)) return Behaviour::once;  // what differs there is of no iteration
  const Slopes slopes = find_slopes(counts, points);
  const double executions = difference(counts.front(), counts.back());
  const double iterations = difference(points.front().runs, points.back().runs) * per_run;
  const bool is_seldom = std::abs(executions) < std::max(kFew, kSeldom * iterations);
  const bool has_fraction = std::fmod(executions, iterations) != 0;
  if (executions < 0) return Behaviour::once;  // no iteration takes anything back
  if (slopes.is_exact && (points.size() > 2 || !has_fraction)) return Behaviour::steady;
  if (is_seldom && !is_kernels) return Behaviour::once;
  if (points.size() == 2) return Behaviour::varying;  // nothing to judge it by
  // Counts vary by chance: the variance of a count is the count.
  const double variance =
      slopes.all / difference(points[0].runs, points[1].runs) +
      slopes.all / difference(points[points.size() - 2].runs, points.back().runs);
  const double apart = std::abs(slopes.last - slopes.first);
  return apart > kChance * std::sqrt(variance) ? Behaviour::growing : Behaviour::varying;
}

Estimate cost_of(std::span<const uint64_t> counts, const std::vector<Point>& points, double unit) {
  if (are_one_number(counts)) return {};
  const Slopes slopes = find_slopes(counts, points);
  const double error = slopes.is_exact ? 0 : std::abs(slopes.last - slopes.first) / 2;
  return {slopes.all * unit, error * unit};
}

/// What each place is. The kernel's functions are those with instructions that each iteration
/// executes: what they do seldom is of the iterations, too.
std::vector<Behaviour> judge_places(const Counted& counted, size_t instructions, const Cell& cell,
                                    const FunctionOf& function) {
  const double per_run = static_cast<double>(cell.iterations_per_run());
  const auto judge = [&](size_t place, bool is_kernels) {
    return classify(counted.of(place, instructions), cell.points, per_run, is_kernels);
  };
  std::vector<Behaviour> behaviours(counted.places().size());
  std::vector<Location> steady;
  std::set<ImageId> images;  // that have some of the kernel
  for (const auto& [at, place] : counted.places()) {
    behaviours[place] = judge(place, false);
    const std::span<const uint64_t> counts = counted.of(place, instructions);
    if (behaviours[place] != Behaviour::steady || counts.front() >= counts.back()) continue;
    steady.push_back(at);
    images.insert(at.image);
  }
  // Which function a place is of is asked only where it decides: names take longer than the rest.
  std::set<uint64_t> kernels;
  for (const auto& [at, place] : counted.places()) {
    if (behaviours[place] != Behaviour::once || !images.contains(at.image)) continue;
    const Behaviour as_kernels = judge(place, true);
    if (as_kernels == Behaviour::once) continue;
    if (kernels.empty()) {
      for (const Location& one : steady) kernels.insert(function(one));
    }
    if (kernels.contains(function(at))) behaviours[place] = as_kernels;
  }
  return behaviours;
}

/// Adds the sums of all that was counted, by context and event, as counts of no place.
void add_sums(Profile& profile) {
  std::map<std::pair<ContextId, EventId>, uint64_t> sums;
  for (const Histogram& histogram : profile.histograms) {
    for (const EventColumn& column : histogram.columns) {
      uint64_t& sum = sums[{histogram.context, column.event}];
      for (const uint64_t value : column.value) add_saturating(sum, value);
    }
  }
  for (const auto& [key, value] : sums) {
    Count count;
    count.context = key.first;
    count.event = key.second;
    count.value = value;
    profile.counts.push_back(count);
  }
}

void keep_rows(Histogram& histogram, const std::vector<bool>& is_kept) {
  const auto thin = [&](auto& values) {
    if (values.empty()) return;
    size_t kept = 0;
    for (size_t row = 0; row < is_kept.size(); ++row) {
      if (is_kept[row]) values[kept++] = values[row];
    }
    values.resize(kept);
  };
  thin(histogram.offsets);
  thin(histogram.objects);
  for (EventColumn& column : histogram.columns) {
    thin(column.samples);
    thin(column.value);
    thin(column.variance);
  }
}

/// The row of `other` for each row of `histogram`; SIZE_MAX: it has none.
std::vector<size_t> match_rows(const Histogram& histogram, const Histogram& other) {
  const auto key = [](const Histogram& one, size_t row) {
    return std::pair(one.offsets[row], object_of_row(one, row));
  };
  std::vector<size_t> matches(histogram.offsets.size(), SIZE_MAX);
  size_t at = 0;
  for (size_t row = 0; row < matches.size(); ++row) {
    while (at < other.offsets.size() && key(other, at) < key(histogram, row)) ++at;
    if (at == other.offsets.size()) break;
    if (key(other, at) == key(histogram, row)) matches[row] = at;
  }
  return matches;
}

const EventColumn* find_column(const Histogram& histogram, EventId event) {
  const auto found = std::find_if(histogram.columns.begin(), histogram.columns.end(),
                                  [&](const EventColumn& one) { return one.event == event; });
  return found == histogram.columns.end() ? nullptr : &*found;
}

/// Forgets those of the matches that have not the same numbers; what has no column counted 0.
void keep_equal(const Histogram& histogram, const Histogram& other, std::vector<size_t>& matches) {
  const auto compare = [&](EventId event) {
    const EventColumn* const ours = find_column(histogram, event);
    const EventColumn* const theirs = find_column(other, event);
    for (size_t row = 0; row < matches.size(); ++row) {
      if (matches[row] == SIZE_MAX) continue;
      const uint64_t value = ours == nullptr ? 0 : ours->value[row];
      if (value != (theirs == nullptr ? 0 : theirs->value[matches[row]])) matches[row] = SIZE_MAX;
    }
  };
  for (const EventColumn& column : histogram.columns) compare(column.event);
  for (const EventColumn& column : other.columns) {
    if (find_column(histogram, column.event) == nullptr) compare(column.event);
  }
}

/// Drops the rows that all these histograms of one image have with the same values.
void drop_what_is_equal(const std::vector<Histogram*>& histograms) {
  const Histogram& first = *histograms.front();
  std::vector<std::vector<size_t>> matches;  // by histogram but the first
  std::vector<bool> is_first_kept(first.offsets.size());
  for (size_t i = 1; i < histograms.size(); ++i) {
    matches.push_back(match_rows(first, *histograms[i]));
    keep_equal(first, *histograms[i], matches.back());
    for (size_t row = 0; row < is_first_kept.size(); ++row) {
      if (matches.back()[row] == SIZE_MAX) is_first_kept[row] = true;
    }
  }
  for (size_t i = 1; i < histograms.size(); ++i) {
    std::vector<bool> is_kept(histograms[i]->offsets.size(), true);
    for (size_t row = 0; row < is_first_kept.size(); ++row) {
      if (!is_first_kept[row]) is_kept[matches[i - 1][row]] = false;
    }
    keep_rows(*histograms[i], is_kept);
  }
  keep_rows(*histograms.front(), is_first_kept);
}

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

std::optional<CellCosts> CostReader::compute(const Cell& cell, const FunctionOf& function,
                                             CostDetail detail) const {
  const size_t runs = cell.points.size();
  if (runs < 2 || instructions_ == SIZE_MAX) return std::nullopt;
  const size_t events = profile_.events.size();
  Counted counted(events, runs);
  for (size_t run = 0; run < runs; ++run) {
    for (const uint32_t histogram : histograms_[cell.points[run].run.value]) {
      for_each_count(profile_, profile_.histograms[histogram],
                     [&](const Location& at, size_t event, const Sum& sum) {
                       counted.add(at, event, run, sum.value);
                     });
    }
  }
  CellCosts costs;
  costs.first_runs = cell.points.front().runs;
  costs.last_runs = cell.points.back().runs;
  costs.is_checked = runs > 2;
  costs.totals.resize(events);
  const double per_run = static_cast<double>(cell.iterations_per_run());
  std::vector<StartUp> start_ups(events);
  const std::vector<Behaviour> behaviours = judge_places(counted, instructions_, cell, function);
  for (const auto& [at, number] : counted.places()) {
    PlaceCost place{at, Behaviour::steady, {}, 0};
    const std::span<const uint64_t> counts = counted.of(number, instructions_);
    place.behaviour = behaviours[number];
    place.executions = difference(counts.front(), counts.back());
    costs.varies = costs.varies || place.behaviour == Behaviour::varying;
    costs.is_refused = costs.is_refused || place.behaviour == Behaviour::growing;
    const bool is_kept = detail == CostDetail::places;
    if (is_kept) place.per_iteration.resize(events);
    for (size_t event = 0; event < events; ++event) {
      const std::span<const uint64_t> of_event = counted.of(number, event);
      const Estimate cost = cost_of(of_event, cell.points, profile_.events[event].scale / per_run);
      if (is_kept) place.per_iteration[event] = cost;
      if (place.behaviour == Behaviour::once) continue;
      costs.totals[event].value += cost.value;
      // Places of one loop err together.
      costs.totals[event].standard_error += cost.standard_error;
      start_ups[event].add(of_event.front(), of_event.back());
    }
    if (is_kept) costs.places.push_back(std::move(place));
  }
  const double iterations = difference(costs.first_runs, costs.last_runs) * per_run;
  for (size_t event = 0; event < events; ++event) {
    if (!start_ups[event].is_all(iterations)) continue;
    costs.totals[event] = without_start_up(costs.totals[event]);
    const double most = kFew * profile_.events[event].scale / iterations;
    for (PlaceCost& place : costs.places) {
      Estimate& cost = place.per_iteration[event];
      if (place.behaviour != Behaviour::once && cost.value != 0 && std::abs(cost.value) < most) {
        cost = without_start_up(cost);
      }
    }
  }
  return costs;
}

void keep_what_differs(Profile& profile) {
  std::set<ContextId> contexts;
  std::map<ImageId, std::vector<Histogram*>> images;
  for (Histogram& histogram : profile.histograms) {
    contexts.insert(histogram.context);
    images[histogram.image].push_back(&histogram);
  }
  add_sums(profile);
  for (auto& [image, histograms] : images) {
    // A run that has nothing there differs from the others everywhere.
    if (histograms.size() == contexts.size()) drop_what_is_equal(histograms);
  }
  std::erase_if(profile.histograms, [](const Histogram& one) { return one.offsets.empty(); });
}

}  // namespace culprit::scan
