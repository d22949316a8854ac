#pragma once

// The tables with which each epoch begins: the machine, one run, one event.

#include <cstdint>

#include "daemon/sampling_totals.h"
#include "model/builder.h"

namespace culprit {

/// Fills them; the event is row 0.
void describe_epoch(ProfileBuilder& builder, const char* collector, uint64_t period_ns);

/// Labels of the run: what the collector did in it. `daemon_cpu_ns`: its own CPU time.
void label_epoch(Profile& profile, const SamplingTotals& totals, uint64_t daemon_cpu_ns);

}  // namespace culprit
