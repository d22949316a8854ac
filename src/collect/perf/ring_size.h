#pragma once

// How large a CPU's ring must be for its reader to come late: what is foreseen of samples, and a
// bound on what all rings take.

#include <cstddef>
#include <vector>

#include "collect/perf/perf_events.h"

namespace culprit {

/// What an unprivileged user may lock for each CPU (perf_event_mlock_kb is 516): a second of
/// samples at 4 kHz. No ring is asked to be smaller.
inline constexpr size_t kUsualRingBytes = 512 * 1024;

/// A power of two. Without stack copies a ring holds two seconds of samples with stacks of usual
/// depth, one of the deepest: storing what has been added up was seen to take 0.65 s beside busy
/// programs. With copies it holds half a second, which is large enough.
size_t compute_ring_bytes(const SamplingSetup& setup, const std::vector<SampledGroup>& groups,
                          size_t cpus);

}  // namespace culprit
