// y += a x: a fused multiply-add where there is one.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  double factor = 0.99;
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    CULPRIT_CHANGED_FLOAT(factor);
    for (int i = 0; i < DIM; ++i) a[i] += factor * b[i];
  }
  return culprit_use(a, sizeof a);
}
