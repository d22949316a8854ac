// Slices of a run may differ in width (slice_sums.h): all are added up to the widest, or to wider
// ones where fewer are asked for. A file may come from strangers: what lies beyond all reason is
// left out, and then without time.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "model/counts.h"
#include "model/event_names.h"
#include "report/row_filter.h"
#include "report/row_key.h"
#include "timeline/timeline.h"

namespace culprit {

namespace {

/// No recording keeps so many (SliceSums::kMostSlices).
constexpr uint64_t kMostSlicesOfRun = 4096;

struct SeriesSums {
  size_t event = 0;
  Mode mode = Mode::all;
  size_t first = 0;
  Sums slices;

  Sum& at(size_t slice) {
    if (slices.empty()) first = slice;
    if (slice < first) {
      slices.insert(slices.begin(), first - slice, Sum());
      first = slice;
    }
    if (slice - first >= slices.size()) slices.resize(slice - first + 1);
    return slices[slice - first];
  }
};

struct LaneSums {
  size_t run = 0;
  ReportRow who;
  std::string kind;
  std::vector<SeriesSums> series;
  Sums sums;

  SeriesSums& of(size_t event, Mode mode) {
    for (SeriesSums& one : series) {
      if (one.event == event && one.mode == mode) return one;
    }
    return series.emplace_back(SeriesSums{event, mode, 0, {}});
  }
};

Result<void> check_levels(const TimelineOptions& options) {
  const auto is_of_code = [](RowLevel level) {
    return level != RowLevel::process && level != RowLevel::comm && level != RowLevel::thread &&
           level != RowLevel::region;
  };
  const bool has_code = std::ranges::any_of(options.by, is_of_code) ||
                        std::ranges::any_of(options.filters, [&](const Filter& one) {
                          return is_of_code(one.level);
                        });
  if (!has_code) return {};
  return Error{
      "time is kept by thread, not by code: --by time goes with process, comm, thread and region"};
}

class TimelineMaker {
 public:
  TimelineMaker(const Profile& profile, const FactsLookup& facts, const TimelineOptions& options)
      : profile_(profile),
        code_(profile, facts),
        keys_(code_, levels_of(options)),
        by_(Levels::of(options.by)),
        filter_(options.filters) {
    timeline_.options = options;
  }

  Timeline make() {
    timeline_.event_names = distinct_event_names(profile_);
    timeline_.ledger = profile_.ledger;
    find_slices();
    kept_.resize(profile_.events.size());
    shown_.resize(profile_.events.size());
    for (const SliceCount& count : profile_.slice_counts) add(count);
    finish();
    return std::move(timeline_);
  }

 private:
  static Levels levels_of(const TimelineOptions& options) {
    Levels levels = Levels::of(options.by);
    for (const Filter& one : options.filters) levels.add(one.level);
    return levels;
  }

  [[nodiscard]] const Context* context_of(const SliceCount& count) const {
    return find_row(profile_.contexts, count.context);
  }

  /// How the time of each run is divided.
  void find_slices() {
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> found;  // by run: widest, last begin [ns]
    for (const SliceCount& count : profile_.slice_counts) {
      const Context* const context = context_of(count);
      if (context == nullptr || count.width_ns == 0) continue;
      if (find_row(profile_.runs, context->run) == nullptr) continue;
      auto& [width_ns, last_ns] = found[context->run.value];
      width_ns = std::max(width_ns, count.width_ns);
      last_ns = std::max(last_ns, count.begin_ns);
    }
    const size_t most = timeline_.options.most_slices;
    const uint64_t most_of_run =
        most == 0 || found.empty() ? kMostSlicesOfRun
                                   : std::clamp<uint64_t>(most / found.size(), 1, kMostSlicesOfRun);
    int64_t first_ns = INT64_MAX;
    for (const auto& [run, extent] : found) {
      first_ns = std::min(first_ns, profile_.runs[run].start_ns);
    }
    for (const auto& [run, extent] : found) {
      auto [width_ns, last_ns] = extent;
      const uint64_t kept = last_ns / width_ns + 1;
      const uint64_t together = (kept - 1) / most_of_run + 1;
      width_ns = width_ns > UINT64_MAX / together ? UINT64_MAX : together * width_ns;
      const Run& row = profile_.runs[run];
      const auto duration_ns = static_cast<uint64_t>(std::max<int64_t>(row.duration_ns, 0));
      const size_t count = last_ns / width_ns + 1;
      run_at_.emplace(run, timeline_.runs.size());
      timeline_.runs.push_back({RunId(run), row.start_ns - first_ns, duration_ns, width_ns, count});
    }
  }

  void add(const SliceCount& count) {
    const Context* const context = context_of(count);
    const size_t event = count.cell.event.value;
    if (context == nullptr || count.width_ns == 0 || event >= profile_.events.size()) return;
    const auto run = run_at_.find(context->run.value);
    if (run == run_at_.end()) return;
    const Sum sum =
        make_sum(profile_.events[event], count.cell.samples, count.cell.value, count.cell.variance);
    kept_[event] += sum;
    LaneSums* const lane = find_lane(count.context, *context, run->second);
    if (lane == nullptr) return;
    shown_[event] += sum;
    lane->sums[event] += sum;
    lane->of(event, context->mode).at(count.begin_ns / timeline_.runs[run->second].width_ns) += sum;
  }

  /// Null: the filters leave the context out.
  LaneSums* find_lane(ContextId id, const Context& context, size_t run) {
    const auto [known, is_new] = lane_of_.try_emplace(id.value, SIZE_MAX);
    if (is_new) {
      const RowNames names = keys_.name(keys_.of_context(id));
      if (filter_.passes(names)) known->second = find_or_add(to_row(names), context, run);
    }
    return known->second == SIZE_MAX ? nullptr : &lanes_[known->second];
  }

  size_t find_or_add(ReportRow who, const Context& context, size_t run) {
    if (!by_.names_process()) who.process.reset();
    if (!by_.process) who.process_id.reset();
    if (!by_.thread) {
      who.thread.reset();
      who.thread_id.reset();
    }
    if (!by_.region) who.region.reset();
    who.region_path.reset();
    const Region* const region = by_.region ? find_row(profile_.regions, context.region) : nullptr;
    const std::string kind = region == nullptr ? "" : profile_.strings.text(region->kind);
    const auto key =
        std::tuple(run, who.process, who.process_id, who.thread, who.thread_id, who.region);
    const auto [at, is_new] = lane_by_name_.try_emplace(key, lanes_.size());
    if (is_new) {
      lanes_.push_back({run, std::move(who), kind, {}, Sums(profile_.events.size())});
    }
    return at->second;
  }

  void finish() {
    // What the first event has most of comes first; of what it has nothing, by the others.
    std::ranges::stable_sort(lanes_, [&](const LaneSums& a, const LaneSums& b) {
      if (a.run != b.run) return a.run < b.run;
      for (size_t event = 0; event < a.sums.size(); ++event) {
        if (a.sums[event].value != b.sums[event].value)
          return a.sums[event].value > b.sums[event].value;
      }
      return false;
    });
    for (LaneSums& lane : lanes_) {
      std::ranges::sort(lane.series, {},
                        [](const SeriesSums& one) { return std::pair(one.event, one.mode); });
      Lane made{lane.run,
                std::move(lane.who),
                std::move(lane.kind),
                {},
                to_values(profile_.events, lane.sums)};
      for (const SeriesSums& one : lane.series) {
        LaneSeries series{one.event, one.mode, one.first, {}};
        for (const Sum& sum : one.slices) {
          series.values.push_back(to_value(profile_.events[one.event], sum));
        }
        made.series.push_back(std::move(series));
      }
      timeline_.lanes.push_back(std::move(made));
    }
    const Sums totals = total_sums(profile_);
    Sums without(totals.size());
    for (size_t event = 0; event < totals.size(); ++event) {
      // A damaged file may have more in its slices than in all.
      without[event].samples =
          totals[event].samples - std::min(totals[event].samples, kept_[event].samples);
      without[event].value =
          totals[event].value - std::min(totals[event].value, kept_[event].value);
      without[event].variance = std::max(0.0, totals[event].variance - kept_[event].variance);
      if (without[event].empty()) without[event].variance = 0;
    }
    timeline_.totals = to_values(profile_.events, totals);
    timeline_.without_time = to_values(profile_.events, without);
    timeline_.shown = to_values(profile_.events, shown_);
  }

  const Profile& profile_;
  CodeIndex code_;
  RowKeys keys_;
  Levels by_;
  RowFilter filter_;
  Timeline timeline_;
  std::unordered_map<uint32_t, size_t> run_at_;
  std::unordered_map<uint32_t, size_t> lane_of_;  // by context; SIZE_MAX: none
  using LaneKey =
      std::tuple<size_t, std::optional<std::string>, std::optional<uint32_t>,
                 std::optional<std::string>, std::optional<uint32_t>, std::optional<std::string>>;
  std::map<LaneKey, size_t> lane_by_name_;
  std::vector<LaneSums> lanes_;
  Sums kept_;
  Sums shown_;
};

}  // namespace

double RunSlices::length_ns(size_t slice) const {
  const double width = static_cast<double>(width_ns);
  const double begin = width * static_cast<double>(slice);
  const double left = static_cast<double>(duration_ns) - begin;
  return left > 0 ? std::min(width, left) : width;
}

std::vector<std::vector<Value>> Timeline::sums_of(size_t run) const {
  std::vector<std::vector<Value>> sums(runs[run].count, std::vector<Value>(event_names.size()));
  for (const Lane& lane : lanes) {
    if (lane.run != run) continue;
    for (const LaneSeries& series : lane.series) {
      for (size_t i = 0; i < series.values.size(); ++i) {
        Value& sum = sums[series.first + i][series.event];
        const Value& more = series.values[i];
        sum.samples += more.samples;
        sum.value += more.value;
        sum.error = std::hypot(sum.error, more.error);
      }
    }
  }
  return sums;
}

Result<Timeline> make_timeline(const Profile& profile, const FactsLookup& facts,
                               const TimelineOptions& options) {
  RETURN_IF_ERROR(check_levels(options));
  if (!has_times(profile)) {
    return Error{
        "this profile keeps nothing by time: culprit record PROGRAM does, of samples (simulated "
        "runs, culprit daemon and files of earlier versions do not)",
        ErrorKind::not_found};
  }
  return TimelineMaker(profile, facts, options).make();
}

}  // namespace culprit
