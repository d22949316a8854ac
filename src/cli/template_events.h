#pragma once

#include <string>
#include <vector>

#include "events/event_request.h"

#include "base/result.h"

namespace culprit {

/// The events of a template, as what this machine's kernel is to be asked for: for counting all
/// of them, for sampling those that have a period (with it, and their precise levels). Each is
/// a group of its own: they take turns on the counters. `name`: "auto" (by this machine's
/// CPU), a template's name, or a file.
/// Errors: no such template, none for this CPU, no hardware counters here.
Result<std::vector<EventGroup>> find_template_events(const std::string& name, bool for_sampling);

}  // namespace culprit
