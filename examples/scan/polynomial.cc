// Horner's rule: a chain of DIM multiply-adds.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  double x = 0.9;
  double value = 0;
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED_FLOAT(x);
    value = 1.5;
    for (int i = 0; i < DIM; ++i) value = value * x + b[i];
    CULPRIT_CHANGED_FLOAT(value);
  }
  return culprit_use(&value, sizeof value) + culprit_use(a, sizeof a);
}
