// Small matrices by hand: C = A B.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM][DIM], b[DIM][DIM], c[DIM][DIM] = {};
  for (int i = 0; i < DIM; ++i) {
    for (int j = 0; j < DIM; ++j) {
      a[i][j] = 1.25 + i - j;
      b[i][j] = 0.75 - i + 2 * j;
    }
  }
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    for (int i = 0; i < DIM; ++i) {
      for (int j = 0; j < DIM; ++j) {
        double sum = 0;
        for (int l = 0; l < DIM; ++l) sum += a[i][l] * b[l][j];
        c[i][j] = sum;
      }
    }
    CULPRIT_CHANGED(c);
  }
  return culprit_use(c, sizeof c);
}
