#pragma once

// The tables with which each epoch begins: the machine, one run, its events.

#include <cstdint>
#include <vector>

#include "daemon/daemon_events.h"
#include "daemon/sampling_totals.h"
#include "daemon/stack_sampler.h"
#include "model/builder.h"

namespace culprit {

/// Fills them; time is event 0, the others follow in their order.
void describe_epoch(ProfileBuilder& builder, const char* collector, uint64_t period_ns,
                    const std::vector<DaemonEvent>& events);

/// What each event counted in the whole epoch. Those that did not count all the time have a note.
void add_event_totals(ProfileBuilder& builder, const std::vector<EventTotals>& totals);

/// Labels of the run: what the collector did in it. `daemon_cpu_ns`: its own CPU time.
void label_epoch(Profile& profile, const SamplingTotals& totals, uint64_t daemon_cpu_ns);
/// And its call stacks.
void label_stacks(Profile& profile, const StackTotals& totals);

}  // namespace culprit
