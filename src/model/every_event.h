#pragma once

// Events of the kernel whose every occurrence is a sample (page faults with record -c 1,
// tracepoints): a count by place, with no error of sampling.

#include "model/profile.h"

namespace culprit {

/// Makes Provenance::counted of such events, unless something was lost. Events of time stay what
/// they are: what happens between two ticks of a clock has no sample.
void count_every_event(Profile& profile);

}  // namespace culprit
