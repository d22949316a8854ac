// Jacobi on a square, one parallel region around all sweeps, its barriers implicit; marked by
// Culprit's header.
#include <cstdio>
#include <vector>

#include "culprit/region.h"

int main() {
  const int n = 200;
  std::vector<double> a(n * n, 0.0), b(n * n, 0.0);
  for (int i = 0; i < n; ++i) a[i] = b[i] = 1;
  {
    CULPRIT_REGION("sweeps");
#pragma omp parallel num_threads(3)
    for (int step = 0; step < 20; ++step) {
      CULPRIT_REGION("step");
#pragma omp for schedule(static)
      for (int i = 1; i < n - 1; ++i)
        for (int j = 1; j < n - 1; ++j)
          b[i * n + j] =
              (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]) / 4;
#pragma omp single
      a.swap(b);
    }
  }
  std::printf("%.9f\n", a[n + n / 2]);
}
