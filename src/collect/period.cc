#include "collect/period.h"

#include <cmath>

namespace culprit {

namespace {

bool is_prime(uint64_t number) {
  if (number < 4) return number >= 2;
  if (number % 2 == 0) return false;
  for (uint64_t divisor = 3; divisor * divisor <= number; divisor += 2) {
    if (number % divisor == 0) return false;
  }
  return true;
}

}  // namespace

uint64_t period_for_frequency_ns(double hertz) {
  uint64_t period_ns = static_cast<uint64_t>(std::llround(1e9 / hertz));
  while (!is_prime(period_ns)) ++period_ns;
  return period_ns;
}

}  // namespace culprit
