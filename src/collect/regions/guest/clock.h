/* The clock of regions: what the host chose (protocol.h). */
#ifndef CULPRIT_REGIONS_CLOCK_H
#define CULPRIT_REGIONS_CLOCK_H

#include <stdint.h>
#include <time.h>

extern int clock_uses_tsc;

static inline uint64_t clock_now(void) {
#if defined(__x86_64__)
  if (clock_uses_tsc) return __builtin_ia32_rdtsc();
#endif
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
