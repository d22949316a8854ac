#pragma once

// Estimates: a number never travels without its error.

#include <cstdint>

namespace culprit {

/// A value and its standard error, in the unit of the value. An error of 0 means exact.
struct Estimate {
  double value = 0;
  double standard_error = 0;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// Both ends belong to it.
struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Quantiles of the standard normal distribution: within +-z of the mean lies this part of it.
// Source: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), table 26.6.
inline constexpr double kNormal90 = 1.6448536269514722;
inline constexpr double kNormal95 = 1.9599639845400545;
inline constexpr double kNormal99 = 2.5758293035489004;

/// The interval of an estimate whose errors are normal.
/// Units:  those of the estimate
/// Errors: 95 % of such intervals hold the truth
Interval normal_interval(const Estimate& estimate, double z = kNormal95);

/// The sum of independent estimates.
Estimate operator+(const Estimate& a, const Estimate& b);

/// An estimate in another unit.
Estimate operator*(const Estimate& estimate, double factor);

/// The quotient of independent estimates.
/// Errors: first-order propagation: relative errors add in squares. Good while the
///         divisor's relative error is below about 0.1. {0, 0} if the divisor is 0.
Estimate divide(const Estimate& dividend, const Estimate& divisor);

}  // namespace culprit
