/* Kernels of bench/scan_explain.py: one at a time, chosen by a macro. */
#include <math.h>
#include <stdint.h>

#include "culprit_kernel.h"

enum { kSize = 96 };

#ifdef RESTRICTED
#define ALONE __restrict
#else
#define ALONE
#endif

#ifdef THROUGH
__attribute__((noipa)) static void add_up(int* ALONE sum, const int* ALONE from, int count) {
  for (int i = 0; i < count; ++i) {
    *sum = (*sum >> 1) + from[i]; /* HERE: THROUGH */
  }
}
#endif

#ifdef STEPS
#ifdef ELSEWHERE
/* As a function of another file is: neither inlined nor cloned. */
__attribute__((noinline))
#endif
static uint32_t
mix(uint32_t x) {
  return x ^ (x >> 15);
}
#endif

#ifdef HELPER
static double soften(double x) {
  return x * 0.75 + 0.5;
}
#endif

#ifdef COMPARE
static int is_less(int32_t a, int32_t b) {
  return a < b;
}
#endif

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  int32_t a[kSize];
  int32_t b[kSize];
  double p[kSize];
  double q[kSize];
  float c[kSize];
  for (int i = 0; i < kSize; ++i) {
    a[i] = 12345 * i + 77;
    b[i] = 54321 * (kSize - i) + 33;
    p[i] = 1.5 + i;
    q[i] = 2.25 + i;
    c[i] = 0.25f + (float)i;
  }
  uint64_t s[12];
  for (int i = 0; i < 12; ++i) s[i] = 0x9e3779b97f4a7c15u * (unsigned)(i + 1);
  uint32_t x = 7;
  double total = 1.5;
#ifdef COMPARE
  int (*compare)(int32_t, int32_t) = is_less;
#ifndef DIRECT
  CULPRIT_CHANGED_VALUE(compare);
#endif
#endif
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    CULPRIT_CHANGED(b);
    CULPRIT_CHANGED(p);
    CULPRIT_CHANGED(q);
    CULPRIT_CHANGED(s);
    CULPRIT_CHANGED(c);
#ifdef THROUGH
    add_up(&b[0], a + 1, kSize - 1);
#endif
#ifdef STEPS
    for (int i = 0; i < 24; ++i) x = mix(x + (uint32_t)a[i]) * 2654435761u; /* HERE: STEPS */
#endif
#ifdef COMPARE
    for (int i = 0; i < 24; ++i) x += (uint32_t)compare(a[i], b[i]) * 3; /* HERE: COMPARE */
#endif
#ifdef MIXING
    for (int i = 0; i < 12; ++i) {
      uint64_t s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3], s4 = s[4], s5 = s[5];
      uint64_t s6 = s[6], s7 = s[7], s8 = s[8], s9 = s[9];
      for (int k = 0; k < 4; ++k) {
        s0 += s1 ^ (s5 >> 7), s1 += s2 ^ (s6 >> 9), s2 += s3 ^ (s7 >> 11); /* HERE: MIXING */
        s3 += s4 ^ (s8 >> 13), s4 += s0 ^ (s9 >> 15), s5 ^= s1 + s3;
        s6 ^= s2 + s4, s7 ^= s0 + s5, s8 ^= s1 + s6, s9 ^= s2 + s7;
      }
      s[0] = s0, s[1] = s1, s[2] = s2, s[3] = s3, s[4] = s4, s[5] = s5;
      s[6] = s6, s[7] = s7, s[8] = s8, s[9] = s9;
    }
#endif
#ifdef CHAIN
    for (int i = 0; i < kSize; ++i) x = (x << 1) ^ (uint32_t)a[i]; /* HERE: CHAIN */
#endif
#ifdef LIMITS
    for (int i = 0; i < kSize; ++i) a[i] = a[i] < b[i] ? b[i] - 1 : a[i]; /* HERE: LIMITS */
#endif
#ifdef BLEND
    for (int i = 0; i < kSize; ++i) q[i] = q[i] * 0.25 + p[i] * 0.75; /* HERE: BLEND */
#endif
#ifdef RECURRENCE
    for (int i = 0; i < kSize; ++i) total = total * 0.5 + p[i]; /* HERE: RECURRENCE */
#endif
#ifdef OVERFLOW
    for (int i = 0; i < kSize; ++i) a[i] = b[i] + i; /* HERE: OVERFLOW */
#endif
#ifdef ROOT
    for (int i = 0; i < 24; ++i) q[i] += sqrt(p[i]); /* HERE: ROOT */
#endif
#ifdef BITS
    for (int i = 0; i < 12; ++i) x += (uint32_t)__builtin_popcountll(s[i]); /* HERE: BITS */
#endif
#ifdef HELPER
    for (int i = 0; i < kSize; ++i) q[i] = soften(p[i]); /* HERE: HELPER */
#endif
#ifdef SAXPY
    for (int i = 0; i < kSize; ++i) c[i] = c[i] * 0.5f + 0.25f; /* HERE: SAXPY */
#endif
  }
  return culprit_use(a, sizeof a) + culprit_use(b, sizeof b) + culprit_use(q, sizeof q) +
         culprit_use(s, sizeof s) + culprit_use(&x, sizeof x) + culprit_use(&total, sizeof total) +
         culprit_use(c, sizeof c);
}
