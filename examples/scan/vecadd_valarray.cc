// Adds one vector to another by the expressions of the standard library.
#include <valarray>

#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  std::valarray<double> a(DIM), b(DIM);
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  for (long n = 0; n < runs; ++n) {
    __asm__ volatile("" : : "r"(&a[0]), "r"(&b[0]) : "memory");
    a = a + b;
  }
  return culprit_use(&a[0], DIM * sizeof(double));
}
