#pragma once

// The core clock, measured: a loop of dependent register adds takes one cycle an
// add on every core that matters, so adds per second of undisturbed running is
// the clock. /proc/cpuinfo is wrong by 40 % on cloud guests.
//
// A recording runs short bursts interleaved with the program (about 0.02 % of
// one CPU); interruptions only make a burst slower, so the fastest of a few
// tries counts.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// One burst: the fastest of several tries of about 20 us each.
/// Units:  -> [Hz]
/// Errors: low if every try was interrupted; high only if all the short runs that it is
///         compared with were; otherwise the timer's resolution (0.1 %). 0: it failed
double measure_clock_burst();

/// Median of the bursts with a 95 % interval from their order statistics (few bursts: their
/// range), at least 0.1 % to each side, which is what a burst can resolve; nullopt for none.
std::optional<ClockCalibration> estimate_clock(std::vector<double> bursts_hertz);

}  // namespace culprit
