#include "regions/counters.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>

#include "base/text.h"
#include "model/region_words.h"
#include "openmp/region_kinds.h"

namespace culprit {
namespace {

constexpr std::string_view kUsual[] = {
    "instructions",          "sim:cycles",     "cycles", "L1-dcache-loads",
    "L1-dcache-load-misses", "LLC-load-misses"};

/// Of accesses to a data object.
constexpr std::string_view kUsualOfObjects[] = {"L1-dcache-loads", "L1-dcache-stores",
                                                "L1-dcache-load-misses", "LLC-load-misses"};

class CounterAdder {
 public:
  CounterAdder(const Profile& profile, const std::vector<bool>* objects, RegionsReport& report)
      : profile_(profile), objects_(objects), report_(report) {}

  Result<void> choose(const std::vector<std::string>& events);
  void add();

 private:
  struct Place {
    size_t path = 0;
    bool is_waiting = false;
  };
  void add_event(EventId event);
  [[nodiscard]] std::optional<EventId> find_event(std::string_view name) const;
  void find_threads();
  [[nodiscard]] std::optional<Place> find_place(RegionId region) const;
  void add_histogram(const Histogram& histogram);
  void add_region_value(const RegionValue& value);
  void add_to_report();

  [[nodiscard]] uint64_t sum_of(const Histogram& histogram, const EventColumn& column) const;

  const Profile& profile_;
  const std::vector<bool>* objects_;  // nullptr: counts of everything
  RegionsReport& report_;
  std::set<EventId> of_regions_;                           // counted in regions alone
  std::vector<std::optional<size_t>> column_of_;           // by event
  std::map<ThreadId, size_t> thread_of_;                   // row of the report
  std::map<std::pair<size_t, size_t>, RegionCounts> own_;  // by call path and thread
};

void CounterAdder::add_event(EventId id) {
  const Event& event = profile_.events[id.value];
  if (column_of_[id.value]) return;
  column_of_[id.value] = report_.counters.size();
  report_.counters.push_back({profile_.strings.text(event.name), event.unit, event.provenance,
                              event.scale, of_regions_.contains(id)});
}

/// What was counted in regions alone comes before a sampled event of the same name.
std::optional<EventId> CounterAdder::find_event(std::string_view name) const {
  std::optional<EventId> found;
  for (size_t i = 0; i < profile_.events.size(); ++i) {
    if (profile_.strings.text(profile_.events[i].name) != name) continue;
    if (!found || of_regions_.contains(EventId(i))) found = EventId(i);
  }
  return found;
}

/// Sampled events have no more than the profile's other answers say; they are shown if asked for.
Result<void> CounterAdder::choose(const std::vector<std::string>& events) {
  column_of_.assign(profile_.events.size(), std::nullopt);
  for (const RegionValue& value : profile_.region_values) {
    if (objects_ != nullptr) break;  // what regions count has no objects
    const std::string_view part = profile_.strings.text(value.part);
    const bool is_count = part == region::kCounted || part == region::kCountedWaiting;
    if (is_count && value.event.value < profile_.events.size()) of_regions_.insert(value.event);
  }
  for (const std::string& name : events) {
    const std::optional<EventId> event = find_event(name);
    if (!event) {
      return Error{fmt::format("this profile has no event {} (culprit report --columns lists them)",
                               in_quotes(name)),
                   ErrorKind::not_found};
    }
    add_event(*event);
  }
  if (!events.empty()) return {};
  for (const EventId event : of_regions_) add_event(event);
  using Names = std::span<const std::string_view>;
  for (const std::string_view name : objects_ != nullptr ? Names(kUsualOfObjects) : Names(kUsual)) {
    const std::optional<EventId> event = find_event(name);
    if (event && profile_.events[event->value].provenance != Provenance::sampled) {
      add_event(*event);
    }
  }
  if (objects_ != nullptr && report_.counters.empty()) {
    return Error{
        "no accesses were counted here, only sampled: name an event of theirs by --counter"};
  }
  return {};
}

void CounterAdder::find_threads() {
  for (size_t i = 0; i < report_.threads.size(); ++i) thread_of_[report_.threads[i].row] = i;
}

/// A call path has no counts outside of all regions, and where nobody knows.
std::optional<CounterAdder::Place> CounterAdder::find_place(RegionId region) const {
  const Region* row = find_row(profile_.regions, region);
  if (row == nullptr) return std::nullopt;
  const std::string_view kind = profile_.strings.text(row->kind);
  const bool is_waiting = kind == region::kWaiting;
  const RegionId of = is_waiting ? row->parent : region;
  if (of.is_all() || of.value >= report_.path_of_region.size()) return std::nullopt;
  const std::optional<size_t> path = report_.path_of_region[of.value];
  if (!path) return std::nullopt;
  return Place{*path, is_waiting || openmp::only_waits(kind)};
}

uint64_t CounterAdder::sum_of(const Histogram& histogram, const EventColumn& column) const {
  if (objects_ == nullptr) {
    return std::accumulate(column.value.begin(), column.value.end(), uint64_t{0});
  }
  uint64_t sum = 0;
  const size_t rows = std::min(histogram.objects.size(), column.value.size());
  for (size_t row = 0; row < rows; ++row) {
    const ObjectId object = histogram.objects[row];
    if (object.value < objects_->size() && (*objects_)[object.value]) sum += column.value[row];
  }
  return sum;
}

void CounterAdder::add_histogram(const Histogram& histogram) {
  const Context* context = find_row(profile_.contexts, histogram.context);
  if (context == nullptr) return;
  const std::optional<Place> place = find_place(context->region);
  const auto thread = thread_of_.find(context->thread);
  for (const EventColumn& column : histogram.columns) {
    if (column.event.value >= column_of_.size()) continue;
    const std::optional<size_t> at = column_of_[column.event.value];
    if (!at) continue;
    RegionsReport::Counter& counter = report_.counters[*at];
    // Which object accesses are of may be an estimate where how many there are is exact.
    const bool is_estimate =
        std::ranges::any_of(column.variance, [](double one) { return one > 0; });
    if (objects_ != nullptr && is_estimate) counter.provenance = Provenance::sampled;
    const double value = static_cast<double>(sum_of(histogram, column)) * counter.scale;
    report_.program_counts.inside[*at] += value;
    if (!place || thread == thread_of_.end()) continue;
    RegionCounts& counts = own_[{place->path, thread->second}];
    counts.resize(report_.counters.size());
    (place->is_waiting ? counts.waiting : counts.inside)[*at] += value;
  }
}

void CounterAdder::add_region_value(const RegionValue& value) {
  const std::string_view part = profile_.strings.text(value.part);
  if (part != region::kCounted && part != region::kCountedWaiting) return;
  const Context* context = find_row(profile_.contexts, value.context);
  if (context == nullptr || value.event.value >= column_of_.size()) return;
  const std::optional<size_t> at = column_of_[value.event.value];
  const std::optional<Place> place = find_place(value.region);
  const auto thread = thread_of_.find(context->thread);
  if (!at || !place || thread == thread_of_.end()) return;
  RegionCounts& counts = own_[{place->path, thread->second}];
  counts.resize(report_.counters.size());
  const bool is_waiting = part == region::kCountedWaiting || place->is_waiting;
  (is_waiting ? counts.waiting : counts.inside)[*at] +=
      static_cast<double>(value.value) * report_.counters[*at].scale;
}

/// A construct has what is counted in the constructs inside it, too, but for their waiting.
void CounterAdder::add_to_report() {
  const size_t columns = report_.counters.size();
  const auto whole = own_;
  for (CallPath& path : report_.call_paths) path.counts.resize(columns);
  for (Construct& construct : report_.constructs) {
    construct.counts.resize(columns);
    for (Construct::Thread& thread : construct.threads) thread.counts.resize(columns);
  }
  for (const auto& [key, counts] : whole) {
    const auto& [own_path, thread] = key;
    for (std::optional<size_t> at = own_path; at; at = report_.call_paths[*at].parent) {
      const bool is_own = at == own_path;
      CallPath& path = report_.call_paths[*at];
      path.counts.add(counts, is_own);
      Construct& construct = report_.constructs[path.construct];
      construct.counts.add(counts, is_own);
      const auto row = std::find_if(construct.threads.begin(), construct.threads.end(),
                                    [&](const auto& one) { return one.thread == thread; });
      if (row != construct.threads.end()) row->counts.add(counts, is_own);
      if (!path.parent) report_.region_counts.add(counts, false);
    }
    report_.region_counts.add_waiting(counts);
  }
}

void CounterAdder::add() {
  if (report_.counters.empty()) return;
  report_.program_counts.resize(report_.counters.size());
  report_.region_counts.resize(report_.counters.size());
  find_threads();
  for (const Histogram& histogram : profile_.histograms) add_histogram(histogram);
  if (objects_ == nullptr) {
    for (const RegionValue& value : profile_.region_values) add_region_value(value);
  }
  add_to_report();
}

}  // namespace

void RegionCounts::resize(size_t columns) {
  inside.resize(columns);
  waiting.resize(columns);
}

void RegionCounts::add(const RegionCounts& other, bool with_waiting) {
  for (size_t i = 0; i < inside.size(); ++i) inside[i] += other.inside[i];
  if (with_waiting) add_waiting(other);
}

void RegionCounts::add_waiting(const RegionCounts& other) {
  for (size_t i = 0; i < waiting.size(); ++i) waiting[i] += other.waiting[i];
}

Result<void> add_counters(const Profile& profile, const std::vector<std::string>& events,
                          const std::vector<bool>* objects, RegionsReport& report) {
  CounterAdder adder(profile, objects, report);
  RETURN_IF_ERROR(adder.choose(events));
  adder.add();
  return {};
}

}  // namespace culprit
