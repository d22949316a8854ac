// A B A B A B, each element by an expression that computes the elements of its operands again, as
// expression templates do that do not store what they are made of (the paper's case 2.53).
#include "culprit_kernel.h"
#include "matrix.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  Matrix a, b, c;
  fill(a, 1);
  fill(b, 5);
  CULPRIT_CHANGED(b);
  const auto product = [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < DIM; ++k) sum += a.at[i][k] * b.at[k][j];
    return sum;
  };
  const auto square = [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < DIM; ++k) sum += product(i, k) * product(k, j);
    return sum;
  };
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    for (int i = 0; i < DIM; ++i) {
      for (int j = 0; j < DIM; ++j) {
        double sum = 0;
        for (int k = 0; k < DIM; ++k) sum += square(i, k) * product(k, j);
        c.at[i][j] = sum;
      }
    }
    CULPRIT_CHANGED(c);
  }
  return culprit_use(&c, sizeof c);
}
