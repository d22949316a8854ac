// Counts values: integers, stores that may meet, nothing to vectorise.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  unsigned values[DIM];
  unsigned counts[64] = {};
  for (unsigned i = 0; i < DIM; ++i) values[i] = (i * 37u + 11u) % 64u;
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(values);
    for (int i = 0; i < DIM; ++i) ++counts[values[i] % 64];
  }
  return culprit_use(counts, sizeof counts);
}
