// An inner product: a chain of additions, unless they may be reordered (-ffast-math).
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  double sum = 0;
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    sum = 0;
    for (int i = 0; i < DIM; ++i) sum += a[i] * b[i];
    CULPRIT_CHANGED_FLOAT(sum);
  }
  return culprit_use(&sum, sizeof sum);
}
