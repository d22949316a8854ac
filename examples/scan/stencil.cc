// Each element from its neighbours: loads that overlap.
#include "culprit_kernel.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  float from[DIM + 2], to[DIM];
  for (int i = 0; i < DIM + 2; ++i) from[i] = 1.25f + static_cast<float>(i);
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(from);
    for (int i = 0; i < DIM; ++i) to[i] = (from[i] + 2 * from[i + 1] + from[i + 2]) * 0.3125f;
    CULPRIT_CHANGED(to);
  }
  return culprit_use(to, sizeof to);
}
