#pragma once

// What `record` asks of regions beyond constructs: functions by name (--region), and events that
// are counted in each region of each thread (--region-events).

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/command_line.h"
#include "collect/regions/region_requests.h"
#include "events/event_request.h"

namespace culprit {

/// Functions of the program, or FILE:SYMBOL, as --roi has them.
/// Errors: no such function; one whose beginning has no room for a jump, with what to do instead
Result<std::vector<RegionFunction>> find_region_functions(const std::vector<std::string>& names,
                                                          const std::string& program);

/// Events of one group, in the order of their rows.
/// Errors: events that do not exist, or that the kernel does not count here
Result<EventGroup> find_region_events(const std::vector<std::string>& names);

/// Both, for a measured run; `events`: as find_region_events() gives them.
Result<RegionRequests> make_region_requests(const RecordCommand& command, const EventGroup& events);

}  // namespace culprit
