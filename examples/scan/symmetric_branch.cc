// A symmetric matrix of which one half is stored; where an element is says a comparison.
#include "culprit_kernel.h"

constexpr int kSize = DIM * (DIM + 1) / 2;

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  double m[kSize];
  for (int i = 0; i < kSize; ++i) m[i] = 1.25 + i;
  double sum = 0;
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(m);
    sum = 0;
    for (int i = 0; i < DIM; ++i) {
      for (int j = 0; j < DIM; ++j)
        sum += m[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * (i + 2 * j + 1);
    }
    CULPRIT_CHANGED_FLOAT(sum);
  }
  return culprit_use(&sum, sizeof sum);
}
