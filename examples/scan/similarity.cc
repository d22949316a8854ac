// C = A S A', S symmetric: only one half of the result is computed.
#include "culprit_kernel.h"
#include "matrix.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  Matrix a, b, c;
  fill(a, 1);
  fill(b, 5);
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    const Matrix as = a * b;
    for (int i = 0; i < DIM; ++i) {
      for (int j = 0; j <= i; ++j) {
        double sum = 0;
        for (int k = 0; k < DIM; ++k) sum += as.at[i][k] * a.at[j][k];
        c.at[i][j] = c.at[j][i] = sum;
      }
    }
    CULPRIT_CHANGED(c);
  }
  return culprit_use(&c, sizeof c);
}
