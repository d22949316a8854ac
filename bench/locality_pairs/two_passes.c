// pair: two_passes
// advice: fuse_loops
// repair: one loop does both
//
// Two passes over the same arrays, one after the other, which the caches do not hold.
#include <stdio.h>
#include <stdlib.h>

#ifndef POINTS
#define POINTS 2000000
#endif
enum { kPoints = POINTS, kSteps = 3 };

static double *x, *v, *f;

static __attribute__((noinline)) void step(double dt) {
#ifdef AFTER
  for (int i = 0; i < kPoints; ++i) {
    v[i] += f[i] * dt;
    x[i] += v[i] * dt;
    f[i] = 0.5 * f[i] - x[i] * 1e-3;
  }
#else
  for (int i = 0; i < kPoints; ++i) v[i] += f[i] * dt;  // here
  for (int i = 0; i < kPoints; ++i) {
    x[i] += v[i] * dt;                // here
    f[i] = 0.5 * f[i] - x[i] * 1e-3;  // here
  }
#endif
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  x = malloc(sizeof *x * kPoints), v = malloc(sizeof *v * kPoints), f = malloc(sizeof *f * kPoints);
  for (int i = 0; i < kPoints; ++i) x[i] = i % 10, v[i] = 0, f[i] = 1;
  for (int i = 0; i < kSteps * repeats; ++i) step(0.01);
  printf("%.6f\n", x[17] + v[4711] + f[kPoints - 1]);
}
