#pragma once

#include <cstdint>

namespace culprit {

/// The sampling period for about `hertz` samples per second of CPU time: the next prime
/// number of nanoseconds, so that sampling does not run in step with anything periodic.
/// Units:  [Hz] -> [ns/sample]
/// Errors: the frequency is met within 0.02 % up to 10 kHz
uint64_t period_for_frequency_ns(double hertz);

/// The least prime number that is not below `period`.
/// Units:  [events/sample] -> [events/sample]
uint64_t find_prime_period(uint64_t period);

}  // namespace culprit
