#pragma once

// What repeated or partial measurements tell of the whole: the mean of several runs, and
// a count that was extrapolated from the part of the time in which it was counted.

#include <cstddef>
#include <optional>
#include <span>

#include "stats/estimate.h"

namespace culprit {

/// A mean and where the true one is.
struct MeanEstimate {
  double mean = 0;
  std::optional<Interval> interval95;  // one value does not tell
};

/// Mean of the values of independent runs.
/// Units:  those of the values
/// Errors: 95 % of the intervals hold the true mean if the values are normal (Student's t)
MeanEstimate estimate_mean(std::span<const double> values);

/// What was counted in a piece of the time, and how long of it a counter was there.
struct CountedSlice {
  double value = 0;
  double enabled = 0;
  double running = 0;  // 0 to enabled
};

/// A count of the whole time, from one that had its counter for a part of it.
struct ScaledCount {
  double value = 0;                    // sum of values, times enabled / running
  std::optional<Interval> interval95;  // none: too few slices to tell
};

/// Extrapolates by the rate while it was counted.
/// Units:  those of the slices' values; times in any unit -> [value]
/// Shape:  slices in the order of time; exact (an interval of no width) if running == enabled
/// Errors: those of a ratio estimator over a sample of the slices' time without replacement:
///         95 % of the intervals hold the truth if rates vary independently from slice to
///         slice. What was not seen of the first and the last slice is taken for anything
///         from nothing to twice the rate. Nothing counted at all is {0, none}
/// Source: W. G. Cochran, Sampling Techniques (3rd edition, 1977), chapter 6
ScaledCount estimate_scaled_count(std::span<const CountedSlice> slices);

}  // namespace culprit
