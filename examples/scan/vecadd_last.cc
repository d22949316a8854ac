// Adds one vector to another; the second design against optimising away: a volatile write to the
// last element, which costs loads and stores of its own.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
    for (int i = 0; i < DIM; ++i) a[i] += b[i];
    *const_cast<volatile double*>(&a[DIM - 1]) = 1.25 + static_cast<double>(n & 7);
  }
  return culprit_use(a, sizeof a);
}
