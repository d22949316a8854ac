// Two loops, each with a macro that a setup may put a pragma into: what helps one may hinder the
// other.
//
//     flags = '-O2 "-DFIRST_LOOP=_Pragma(\"GCC unroll 8\")"'
#include "culprit_kernel.h"

#ifndef FIRST_LOOP
#define FIRST_LOOP
#endif
#ifndef SECOND_LOOP
#define SECOND_LOOP
#endif

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[8 * DIM], b[8 * DIM], sum = 0.5;
  for (int i = 0; i < 8 * DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    CULPRIT_CHANGED(b);
    FIRST_LOOP
    for (int i = 0; i < 8 * DIM; ++i) a[i] = a[i] * 0.99 + b[i];
    SECOND_LOOP
    for (int i = 0; i < 8 * DIM; ++i) sum = sum * 0.5 + b[i];
    CULPRIT_CHANGED_FLOAT(sum);
  }
  return culprit_use(a, sizeof a) + culprit_use(&sum, sizeof sum);
}
