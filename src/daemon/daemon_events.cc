#include "daemon/daemon_events.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "collect/perf/event_trial.h"
#include "daemon/sample_table.h"
#include "events/event_request.h"

namespace culprit {

namespace {

// All prime. The kernel's own events may come a hundred thousand times a second (page faults of a
// compile storm), cycles and instructions some 10^9 times, what goes wrong for them 10^7 times.
constexpr uint64_t kSoftwarePeriod = 101;
constexpr uint64_t kUsualPeriod = 100'003;
constexpr uint64_t kCyclesPeriod = 10'000'019;

uint64_t choose_period(const EventRequest& event) {
  if (event.period) return *event.period;
  if (event.type == PERF_TYPE_SOFTWARE || event.type == PERF_TYPE_TRACEPOINT) {
    return kSoftwarePeriod;
  }
  const bool is_frequent =
      event.type == PERF_TYPE_HARDWARE &&
      (event.config == PERF_COUNT_HW_CPU_CYCLES || event.config == PERF_COUNT_HW_INSTRUCTIONS ||
       event.config == PERF_COUNT_HW_REF_CPU_CYCLES);
  return is_frequent ? kCyclesPeriod : kUsualPeriod;
}

/// "page-faults" of "page-faults/period=50/": its name in reports.
std::string shorten_name(const std::string& name) {
  const size_t slash = name.find('/');
  const size_t end = name.rfind('/');
  const std::string_view terms = std::string_view(name).substr(std::min(slash + 1, name.size()));
  if (slash == std::string::npos || !terms.starts_with("period=") ||
      terms.find(',') != std::string_view::npos) {
    return name;
  }
  const std::string modifiers = name.substr(end + 1);
  const bool is_bare = !modifiers.empty() && modifiers.front() != ':';
  return name.substr(0, slash) + (is_bare ? ":" : "") + modifiers;
}

}  // namespace

Result<std::vector<DaemonEvent>> find_daemon_events(const std::vector<std::string>& words) {
  std::vector<DaemonEvent> events;
  if (words.empty()) return events;
  ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
  ASSIGN_OR_RETURN(const std::vector<EventGroup> groups, parse_events(words, catalog));
  EventTrials trials;
  size_t sets = 0;
  for (const EventGroup& group : groups) {
    const size_t turn = group.is_braced ? ++sets : 0;
    for (const EventRequest& request : group.members) {
      if (is_clock(request)) {
        return Error{fmt::format("'{}': time is sampled anyway (--rate)", printable(request.name))};
      }
      if (request.frequency_hz) {
        return Error{
            fmt::format("'{}': give period=, not freq=: the daemon's events have fixed "
                        "periods",
                        printable(request.name))};
      }
      if (const std::string problem = trials.try_event(request); !problem.empty()) {
        return Error{fmt::format("'{}' cannot be sampled: {}", printable(request.name), problem)};
      }
      SampledEvent event{request, choose_period(request)};
      event.request.name = shorten_name(request.name);
      events.push_back({std::move(event), turn});
    }
  }
  if (events.size() >= SAMPLE_EVENTS) {
    return Error{fmt::format("{} events are more than the {} that fit beside time", events.size(),
                             SAMPLE_EVENTS - 1)};
  }
  if (sets == 1) {
    for (DaemonEvent& event : events) event.turn = 0;
  }
  return events;
}

}  // namespace culprit
