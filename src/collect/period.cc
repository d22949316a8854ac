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
  return find_prime_period(static_cast<uint64_t>(std::llround(1e9 / hertz)));
}

uint64_t find_prime_period(uint64_t period) {
  // Dividing takes the root of it: what is larger is in step with nothing, whatever it is.
  constexpr uint64_t kLargestTried = uint64_t{1} << 40;
  while (period < kLargestTried && !is_prime(period)) ++period;
  return period;
}

}  // namespace culprit
