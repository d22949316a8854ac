// C = inverse(A) B of affine matrices whose rotations are orthogonal: the inverse is a transposed
// one (the form of G4AffineTransform::InverseProduct, the case 2.55 of the paper).
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  struct Affine {
    double turn[3][3], move[3];
  } a[DIM], b, c[DIM];
  for (int i = 0; i < 3; ++i) {
    b.move[i] = 0.5 + i;
    for (int j = 0; j < 3; ++j) b.turn[i][j] = 0.25 * (i + 1) - 0.125 * j;
  }
  for (int m = 0; m < DIM; ++m) {
    a[m] = b;
    a[m].move[0] += m;
  }
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    for (int m = 0; m < DIM; ++m) {
      const double x = b.move[0] - a[m].move[0];
      const double y = b.move[1] - a[m].move[1];
      const double z = b.move[2] - a[m].move[2];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          c[m].turn[i][j] = a[m].turn[0][i] * b.turn[0][j] + a[m].turn[1][i] * b.turn[1][j] +
                            a[m].turn[2][i] * b.turn[2][j];
        }
        c[m].move[i] = a[m].turn[0][i] * x + a[m].turn[1][i] * y + a[m].turn[2][i] * z;
      }
    }
    CULPRIT_CHANGED(c);
  }
  return culprit_use(c, sizeof c);
}
