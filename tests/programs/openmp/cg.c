/* Conjugate gradients on a one-dimensional Poisson matrix, the vectors in one parallel region per
 * operation, as such codes are written. Prints how many steps it took, and the residual. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void multiply(int n, const double* x, double* y) {
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < n; ++i) {
    y[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
  }
}

static double dot(int n, const double* x, const double* y) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

static void add(int n, double a, const double* x, double* y) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

int main(int count, char** words) {
  const int n = count > 1 ? atoi(words[1]) : 300;
  double* x = calloc((size_t)n, sizeof *x);
  double* r = malloc((size_t)n * sizeof *r);
  double* p = malloc((size_t)n * sizeof *p);
  double* q = malloc((size_t)n * sizeof *q);
  for (int i = 0; i < n; ++i) p[i] = r[i] = 1;
  double rr = dot(n, r, r);
  int steps = 0;
  while (rr > 1e-12 && steps < 2 * n) {
    multiply(n, p, q);
    const double alpha = rr / dot(n, p, q);
    add(n, alpha, p, x);
    add(n, -alpha, q, r);
    const double next = dot(n, r, r);
    for (int i = 0; i < n; ++i) p[i] = r[i] + next / rr * p[i];
    rr = next;
    ++steps;
  }
  printf("%d steps, x[%d] = %.6f\n", steps, n / 2, x[n / 2]);
  free(x), free(r), free(p), free(q);
  return 0;
}
