#include "cli/region_requests.h"

#include <fmt/format.h>

#include "collect/perf/event_trial.h"
#include "collect/perf/perf_attr.h"
#include "collect/perf/user_code_only.h"

namespace culprit {

Result<EventGroup> find_region_events(const std::vector<std::string>& names) {
  EventGroup all;
  if (names.empty()) return all;
  ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
  ASSIGN_OR_RETURN(std::vector<EventGroup> groups, parse_events(names, catalog));
  leave_out_barred_kernel(groups);
  EventTrials trials;
  for (const EventGroup& group : groups) {
    for (const EventRequest& event : group.members) {
      if (const std::string problem = trials.try_event(event); !problem.empty()) {
        return Error{fmt::format("--region-events: {}", problem)};
      }
      all.members.push_back(event);
    }
  }
  return all;
}

Result<RegionRequests> make_region_requests(const RecordCommand& command,
                                            const EventGroup& events) {
  RegionRequests requests;
  for (const EventRequest& event : events.members) {
    perf_event_attr attr = make_counting_attr(event, false);
    attr.inherit = 0;  // a thread counts for itself
    attr.enable_on_exec = 0;
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    requests.counters.push_back(attr);
  }
  if (command.functions.empty()) return requests;
  ASSIGN_OR_RETURN(requests.functions,
                   find_region_functions(command.functions, command.record.command.front()));
  return requests;
}

}  // namespace culprit
