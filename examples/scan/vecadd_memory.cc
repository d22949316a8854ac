// Adds one vector to another; a clobber of all memory reloads both.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double a[DIM], b[DIM];
  for (int i = 0; i < DIM; ++i) {
    a[i] = 1.25 + i;
    b[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
    __asm__ volatile("" : "+m"(a) : : "memory");
    for (int i = 0; i < DIM; ++i) a[i] += b[i];
  }
  return culprit_use(a, sizeof a);
}
