// Adds one vector to another; what keeps the work is a volatile write to one element.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  volatile double one = 1.5;
  volatile int first = 0;
  for (long n = 0; n < runs; ++n) {
    a[first] = one;
    for (int i = 0; i < DIM; ++i) a[i] += b[i];
  }
  return culprit_use(a, sizeof a);
}
