#pragma once

// What a number of samples tells: of a rate (Poisson) and of a share (binomial).

#include <cstdint>

#include "stats/estimate.h"

namespace culprit {

/// A count of independent arrivals as an estimate of the expected count.
/// Units:  events [count] -> [count]
/// Errors: standard error sqrt(events), Poisson's; too small below about 10 events,
///         where poisson_interval() says it better
Estimate estimate_count(uint64_t events);

/// Interval of an expected count.
/// Units:  events [count] -> [count]
/// Errors: holds the truth in at least about 95 % of cases, down to 0 events; within 0.1
///         of the exact interval (by chi-square quantiles)
/// Source: F. Garwood, Fiducial limits for the Poisson distribution, Biometrika 28 (1936),
///         with the cube-root approximation of E. B. Wilson and M. M. Hilferty, PNAS 17 (1931)
Interval poisson_interval(uint64_t events);

/// A part of a whole, from samples of which each belongs to the part or does not.
struct ShareEstimate {
  double share = 0;  // samples / total [0 to 1]
  double standard_error = 0;
  Interval interval95;  // not symmetrical; within [0, 1]

  /// Half of an interval around `share` that holds interval95: what "+-" prints.
  [[nodiscard]] double half_width() const;
};

/// The share of the whole that a part has.
/// Units:  samples, total_samples [count] -> [0 to 1]
/// Errors: standard error of a binomial share, sqrt(p (1 - p) / n); interval95 is Wilson's
///         score interval, which holds the truth in about 95 % of cases also near 0 and 1.
///         Samples at a fixed period are more even than a binomial: on the safe side.
///         Without samples nothing is known: share 0, standard error 1, interval [0, 1].
/// Source: E. B. Wilson, Probable inference, JASA 22 (1927); compared with others in
///         L. D. Brown, T. T. Cai, A. DasGupta, Statistical Science 16 (2001)
ShareEstimate estimate_share(uint64_t samples, uint64_t total_samples);

}  // namespace culprit
