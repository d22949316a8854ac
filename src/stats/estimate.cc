#include "stats/estimate.h"

#include <cmath>

namespace culprit {

Interval normal_interval(const Estimate& estimate, double z) {
  return {estimate.value - z * estimate.standard_error,
          estimate.value + z * estimate.standard_error};
}

Estimate operator+(const Estimate& a, const Estimate& b) {
  return {a.value + b.value, std::hypot(a.standard_error, b.standard_error)};
}

Estimate operator*(const Estimate& estimate, double factor) {
  return {estimate.value * factor, estimate.standard_error * std::fabs(factor)};
}

Estimate divide(const Estimate& dividend, const Estimate& divisor) {
  if (divisor.value == 0) return {};
  const double quotient = dividend.value / divisor.value;
  // Written without dividing by the dividend, which may be 0.
  const double error = std::hypot(dividend.standard_error, quotient * divisor.standard_error);
  return {quotient, error / std::fabs(divisor.value)};
}

}  // namespace culprit
