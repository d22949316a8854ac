#pragma once

#include <cstdint>

#include "collect/perf/perf_events.h"
#include "collect/stream/process_stream.h"

namespace culprit {

/// A record may become visible later than one that was made after it on another CPU.
inline constexpr uint64_t kRingDisorderNs = 20'000'000;

/// Hands what the rings hold of before that moment (CLOCK_MONOTONIC) to the processor, in the order
/// of time.
void drain_rings(PerfEvents& events, uint64_t before_ns, SampleProcessor& processor);

}  // namespace culprit
