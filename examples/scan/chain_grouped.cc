// (A B) (A B) (A B): one product is computed once.
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
    const Matrix ab = a * b;
    c = ab * ab * ab;
    CULPRIT_CHANGED(c);
  }
  return culprit_use(&c, sizeof c);
}
