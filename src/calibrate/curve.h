#pragma once

// What loads take over so many bytes: caches that others use, too, have no one size.
//
//     cycles                    steep: a cache of a fixed size      slow: hits become fewer over a
//       │        ┌────────                        ┌────             wide range, since others take
//       │   steep│                           ┌────┘                 lines of it, or its size is
//       that │  ──────┘                 ──────────┘ slow                 of a slice; no size is
//       like this └───────────────── bytes

#include <map>
#include <optional>
#include <vector>

#include "calibrate/calibrate.h"

namespace culprit {

using Curve = std::map<uint64_t, double>;  // bytes -> cycles per load

/// Medians and ranges over the rounds, of the bytes that each of them has.
std::vector<CurvePoint> summarize_curves(const std::vector<Curve>& rounds);

/// Where a curve leaves one level of latency for the next.
struct LatencyStep {
  double bytes = 0;   // half way (by logarithms of latencies)
  double factor = 1;  // between the bytes at a quarter and at three quarters of the way
};

/// The step between the latency at `begin` and the last one; nullopt: there is none.
/// Units:  bytes
std::optional<LatencyStep> find_step(const Curve& curve, uint64_t begin);

/// The curve passes a cache of a fixed size between two points, one of twice the bytes of the
/// other; a slower rise is no such cache.
inline constexpr double kSteep = 2;

}  // namespace culprit
