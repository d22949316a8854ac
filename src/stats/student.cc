#include "stats/student.h"

#include <algorithm>
#include <cmath>

namespace culprit {
namespace {

/// The continued fraction of the incomplete beta function.
double beta_fraction(double x, double a, double b) {
  constexpr int kMostTerms = 1000;
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-15;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    fraction *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) < kEnough) break;
  }
  return fraction;
}

/// I_x(a, b), regularized.
double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on this side of the mean; the other is its complement.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

double student_tail(double t, double degrees_of_freedom) {
  const double n = degrees_of_freedom;
  return incomplete_beta(n / (n + t * t), n / 2, 0.5);
}

double student_quantile95(double degrees_of_freedom) {
  if (!(degrees_of_freedom > 0)) return INFINITY;
  double low = 1.9;  // below the normal distribution's
  double high = 13;
  while (student_tail(high, degrees_of_freedom) > 0.05 && high < 1e300) high *= 4;
  for (int step = 0; step < 200 && high / low > 1 + 1e-12; ++step) {
    const double middle = std::sqrt(low * high);
    (student_tail(middle, degrees_of_freedom) > 0.05 ? low : high) = middle;
  }
  return high;
}

double degrees_of_sum(double sum, double sum_of_squares) {
  return std::max(1.0, sum * sum / sum_of_squares - 1);
}

}  // namespace culprit
