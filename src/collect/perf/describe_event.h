#pragma once

#include "collect/perf/perf_attr.h"
#include "model/builder.h"

namespace culprit {

/// The row of a profile for what is sampled.
Event describe_event(ProfileBuilder& builder, const SampledEvent& sampled);

}  // namespace culprit
