#pragma once

// Why the kernel will not count an event, for people: what is missing here, and what
// would help. perf_event_open says it in one errno.

#include <string>

#include "events/event_request.h"

#include "base/result.h"

namespace culprit {

/// "cannot count cycles: no hardware PMU: ..." with the remedy on a line of its own.
/// `whole_cpus`: it was to be counted for all tasks of a CPU, which needs more permission.
/// `in_group`: with others that were opened before it.
Error explain_refusal(const EventRequest& event, int error_number, bool whole_cpus, bool in_group);

/// Others that hold counters, for a remark: the NMI watchdog, programs with perf events open.
/// "" if none is known.
std::string name_counter_holders();

}  // namespace culprit
