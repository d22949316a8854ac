// pair: prime_sieve
// branch: store_resource_saturation
// place: cross_out
// repair: the sieve is crossed out segment by segment, each of which fits the first cache
//
// Gaps between primes, from a sieve of 24 MB. Crossing out multiples of a prime only stores, a
// stride apart: nothing waits for a load, but each store waits for its line in the store buffer.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum { kLimit = 24 << 20, kRoot = 5200, kSegment = 24 << 10 };

static NOINLINE int find_small_primes(uint32_t* primes) {
  static uint8_t composite[kRoot];
  int count = 0;
  for (uint32_t i = 2; i < kRoot; ++i) {
    if (composite[i]) continue;
    if (i > 2) primes[count++] = i;
    for (uint32_t multiple = i * i; multiple < kRoot; multiple += i) composite[multiple] = 1;
  }
  return count;
}

// odd[i] is for the number 2 i + 1; next[k] is the first multiple of a prime to cross out.
static NOINLINE void cross_out(uint8_t* odd, const uint32_t* primes, uint32_t* next, int count,
                               uint32_t end) {
  for (int k = 0; k < count; ++k) {
    const uint32_t prime = primes[k];
    uint32_t at = next[k];
    for (; at < end; at += prime) odd[at] = 1;
    next[k] = at;
  }
}

static NOINLINE void sieve(uint8_t* odd, const uint32_t* primes, int count) {
  uint32_t* next = calloc((size_t)count, sizeof *next);
  for (int k = 0; k < count; ++k) next[k] = primes[k] * primes[k] / 2;
  memset(odd, 0, kLimit);
#ifdef AFTER
  for (uint32_t end = kSegment; end < kLimit; end += kSegment)
    cross_out(odd, primes, next, count, end);
#endif
  cross_out(odd, primes, next, count, kLimit);
  free(next);
}

static NOINLINE uint64_t count_primes(const uint8_t* odd) {
  uint64_t count = 1;
  for (uint32_t i = 1; i < kLimit; ++i) count += !odd[i];
  return count;
}

// The mean distance of primes in windows, and the longest run without one.
static NOINLINE uint64_t measure_gaps(const uint8_t* odd) {
  uint64_t sum = 0;
  uint32_t longest = 0;
  for (uint32_t first = 1; first + 64 <= kLimit; first += 64) {
    uint32_t in_window = 0;
    for (uint32_t i = 0; i < 64; ++i) in_window += odd[first + i];
    longest = in_window > longest ? in_window : longest;
    sum += in_window * in_window;
  }
  return sum * 64 + longest;
}

int main(void) {
  uint8_t* odd = malloc(kLimit);
  uint32_t* primes = calloc(kRoot, sizeof *primes);
  const int count = find_small_primes(primes);
  uint64_t sum = 0;
  for (int round = 0; round < 3; ++round) {
    sieve(odd, primes, count);
    sum = sum * 31 + count_primes(odd);
    sum = sum * 31 + measure_gaps(odd);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
