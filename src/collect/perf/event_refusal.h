#pragma once

// Why the kernel will not count an event, for people: what is missing here, and what
// would help. perf_event_open says it in one errno.

#include <string>

#include "base/result.h"
#include "events/event_request.h"

namespace culprit {

struct Refusal {
  int error_number = 0;
  bool whole_cpus = false;  // for all tasks of a CPU, which needs more permission
  bool in_group = false;    // with others that were opened before it
  const char* verb = "count";
  bool in_cgroup = false;
};

/// "cannot count 'cycles': no hardware PMU: ..." with the remedy on a line of its own.
Error explain_refusal(const EventRequest& event, const Refusal& refusal);

/// Others that hold counters, for a remark: the NMI watchdog, programs with perf events open.
/// "" if none is known.
std::string name_counter_holders();

}  // namespace culprit
