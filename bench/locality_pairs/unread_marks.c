// pair: unread_marks
// advice: dead_stores
// repair: the marks, which nobody reads, are not set
// options: --objects site
//
// A random walk marks when it was at each of the places of 32 MB, and nothing ever asks.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPlaces = 1 << 23, kSteps = 500000 };

static __attribute__((noinline)) uint64_t walk(uint32_t* marks, uint64_t seed) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kSteps; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    sum += seed >> 60;
#ifndef AFTER
    marks[(seed >> 32) % kPlaces] = i;  // here
#endif
  }
  (void)marks;
  return sum;
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  uint32_t* const marks = malloc(kPlaces * sizeof(uint32_t));  // allocated
  uint64_t sum = 0;
  for (int r = 0; r < repeats; ++r) sum += walk(marks, (uint64_t)r);
  printf("%llu\n", (unsigned long long)sum);
  free(marks);
}
