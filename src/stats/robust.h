#pragma once

// Statistics that a few wild values do not move: for timings, which have an outlier
// whenever the machine does something else. NaN must not be among the values.

#include <span>

#include "stats/estimate.h"

namespace culprit {

/// The value below which lies the part `p` of the values, interpolated between neighbours.
/// Units:  those of the values; p [0 to 1]
/// Shape:  values in any order; 0 if there are none
/// Source: R. J. Hyndman, Y. Fan, Sample quantiles in statistical packages, The American
///         Statistician 50 (1996), definition 7 (as R and NumPy do by default)
double compute_quantile(std::span<const double> values, double p);

/// The middle value; the mean of both middle ones if their number is even.
double compute_median(std::span<const double> values);

/// Half of normal values lie within 1 / this of their standard deviation.
inline constexpr double kNormalConsistency = 1.482602218505602;

/// Median of the distances from the median, times 1.4826: for normal values it estimates
/// their standard deviation.
/// Units:  those of the values
/// Source: F. R. Hampel, The influence curve and its role in robust estimation, JASA 69
///         (1974); 1.4826 = 1 / (75 % quantile of the normal distribution)
double estimate_deviation(std::span<const double> values);

/// Interval of the median of what the values are drawn from, whatever its distribution.
/// Units:  those of the values
/// Errors: holds the truth in at least 95 % of cases if there are 6 values or more; with
///         fewer, the whole range of the values, which holds it in 1 - 2^(1 - n) of cases
/// Source: W. R. Thompson, Annals of Mathematical Statistics 7 (1936); H. A. David,
///         Order Statistics (1981), section 2.5
Interval median_interval(std::span<const double> values);

}  // namespace culprit
