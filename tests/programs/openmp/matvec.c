/* The matrix-vector product of papers/data-structure-profiling: each of four threads reads a
 * quarter of the columns of `a`, every element once. */
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 400
#endif

double a[N][N];
double x[N], y[N];

int main(void) {
  for (int i = 0; i < N; ++i) x[i] = 1;
#pragma omp parallel num_threads(4)
  {
    double* const own = calloc(N, sizeof *own);
#pragma omp for schedule(static)
    for (int j = 0; j < N; ++j) {
      for (int i = 0; i < N; ++i) own[i] += a[i][j] * x[j];
    }
#pragma omp critical
    for (int i = 0; i < N; ++i) y[i] += own[i];
    free(own);
  }
  printf("%g\n", y[0]);
  return 0;
}
