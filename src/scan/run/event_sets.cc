#include "scan/run/event_sets.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "base/time.h"
#include "events/pmu_catalog.h"

namespace culprit::scan {
namespace {

/// What CPUs have counters of their own for.
bool is_fixed(std::string_view name) {
  const std::string_view base = name.substr(0, name.find(':'));
  return base == "cycles" || base == "cpu-cycles" || base == "instructions" || base == "ref-cycles";
}

}  // namespace

Result<std::vector<CountedEvent>> find_counted_events(const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<CountedEvent>();
  ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
  std::vector<CountedEvent> events;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(std::vector<EventGroup> groups, parse_events(std::span(&name, 1), catalog));
    for (const EventGroup& group : groups) {
      const EventRequest& event = group.members.front();
      // One event has a request for each PMU; a list has several names.
      if (group.members.size() > 1 || event.name != groups.front().members.front().name) {
        return Error{
            fmt::format("'{}' names several events: scan.events is a list of texts, each "
                        "of one event",
                        printable(name))};
      }
      if (event.is_per_cpu_only) {
        return Error{fmt::format("'{}' counts a CPU's package, not a program", printable(name))};
      }
    }
    events.push_back({name, std::move(groups)});
  }
  return events;
}

Result<std::vector<EventSet>> choose_event_sets(const std::vector<CountedEvent>& events,
                                                const FitsCounters& fits) {
  EventSet fixed;
  for (size_t i = 0; i < events.size(); ++i) {
    if (is_fixed(events[i].name)) fixed.push_back(i);
  }
  const auto refuse = [&](size_t event) {
    return Error{
        fmt::format("this machine does not count '{}' all of the time: no counter is free for it",
                    printable(events[event].name))};
  };
  if (!fixed.empty()) {
    ASSIGN_OR_RETURN(const bool fit, fits(fixed));
    if (!fit) fixed.clear();
  }
  std::vector<EventSet> sets = {fixed};
  for (size_t i = 0; i < events.size(); ++i) {
    if (std::find(fixed.begin(), fixed.end(), i) != fixed.end()) continue;
    EventSet& last = sets.back();
    last.push_back(i);
    ASSIGN_OR_RETURN(const bool fit, fits(last));
    if (fit) continue;
    last.pop_back();
    EventSet next = fixed;
    next.push_back(i);
    ASSIGN_OR_RETURN(const bool fits_anew, fits(next));
    if (!fits_anew) {
      next = {i};
      ASSIGN_OR_RETURN(const bool fits_alone, fits(next));
      if (!fits_alone) return refuse(i);
    }
    sets.push_back(std::move(next));
  }
  // What was tried for the first event may have left nothing.
  std::erase_if(sets, [&](const EventSet& set) { return set.empty() && sets.size() > 1; });
  return sets;
}

Result<bool> fit_counters_here(const std::vector<CountedEvent>& events, const EventSet& set) {
  ASSIGN_OR_RETURN(CounterSet counters,
                   open_counters(events, set, static_cast<pid_t>(::syscall(SYS_gettid)), false));
  counters.enable();
  // Longer than a counter's turn (perf_event_mux_interval_ms is 4 at most by default).
  constexpr uint64_t kTurnsNs = 10'000'000;
  const uint64_t start_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  while (read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns < kTurnsNs) {
  }
  counters.disable();
  const auto counts = read_counts(events, set, counters);
  return std::all_of(counts.begin(), counts.end(), [](const auto& one) { return one.has_value(); });
}

Result<CounterSet> open_counters(const std::vector<CountedEvent>& events, const EventSet& set,
                                 pid_t task, bool starts_at_exec) {
  std::vector<EventGroup> groups;
  for (const size_t event : set) {
    groups.insert(groups.end(), events[event].groups.begin(), events[event].groups.end());
  }
  CountTargets targets;
  targets.tids = {task};
  targets.starts_at_exec = starts_at_exec;
  return CounterSet::open(groups, targets, nullptr);
}

std::vector<std::optional<uint64_t>> read_counts(const std::vector<CountedEvent>& events,
                                                 const EventSet& set, CounterSet& counters) {
  const std::vector<Reading> readings = counters.read_new();
  std::vector<std::optional<uint64_t>> counts;
  size_t next = 0;
  for (const size_t event : set) {
    // On cores of two kinds the PMUs count by turns: one where the other does not.
    Reading all;
    for (size_t i = 0; i < events[event].groups.size(); ++i) {
      const Reading& one = readings[next++];
      all.value += one.value;
      all.running_ns += one.running_ns;
      all.enabled_ns = std::max(all.enabled_ns, one.enabled_ns);
    }
    const uint64_t skew_ns = events[event].groups.size() > 1 ? all.enabled_ns / 100 : 0;
    const bool is_whole = all.running_ns > 0 && all.running_ns + skew_ns >= all.enabled_ns;
    counts.push_back(is_whole ? std::optional(all.value) : std::nullopt);
  }
  return counts;
}

}  // namespace culprit::scan
