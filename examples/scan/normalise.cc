// Divides each element by the same number: one division would do, with rounding of its own.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  double length = 1.0625;
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    CULPRIT_CHANGED_FLOAT(length);
    for (int i = 0; i < DIM; ++i) a[i] = b[i] / length;
  }
  return culprit_use(a, sizeof a);
}
