// Adds one vector to another: the kernel of docs/manual.md, tests/scan_test.py and bench/scan.py.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  volatile double one = 1;
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) a[i] = b[i] = one;
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    for (int i = 0; i < DIM; ++i) a[i] += b[i];
  }
  double sum = 0;
  for (int i = 0; i < DIM; ++i) sum += a[i];
  return sum > 0 ? 0 : 1;
}
