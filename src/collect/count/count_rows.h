#pragma once

// The rows of a profile that counting makes: events, a run with its contexts, counts.

#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "collect/count/counter_set.h"
#include "events/event_request.h"
#include "model/profile.h"

namespace culprit {

void add_counted_events(Profile& profile, const EventGroup& group);

/// Adds the run; the context of each thread, the same for all unless `per_thread`. One, if
/// `tids` is empty.
std::vector<ContextId> add_counted_run(Profile& profile, const Run& run,
                                       std::span<const pid_t> tids, bool per_thread);

/// The context of one thread of the last run.
ContextId add_counted_thread(Profile& profile, pid_t tid, std::string name);

struct CountPlace {
  size_t first_event = 0;  // the row that belongs to the first of the readings
  uint32_t interval = 0;
  uint32_t repetition = 0;
};

/// A row for each event and context: what several threads of one context counted is added up.
/// `readings` as CounterSet::read_new() gives them. Refused events get no row.
void add_count_rows(Profile& profile, const CountPlace& place, std::span<const ContextId> contexts,
                    std::span<const RefusedEvent> refused, std::span<const Reading> readings);

}  // namespace culprit
