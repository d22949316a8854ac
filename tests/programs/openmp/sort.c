/* A task for each half, down to 1,000 numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void merge(int* a, int* b, long n) {
  long i = 0, j = n / 2;
  for (long k = 0; k < n; ++k) b[k] = j == n || (i < n / 2 && a[i] <= a[j]) ? a[i++] : a[j++];
  memcpy(a, b, (size_t)n * sizeof *a);
}

static int compare(const void* a, const void* b) {
  return (*(const int*)a > *(const int*)b) - (*(const int*)a < *(const int*)b);
}

static void sort(int* a, int* b, long n) {
  if (n <= 1000) {
    qsort(a, (size_t)n, sizeof *a, compare);
    return;
  }
#pragma omp task
  sort(a, b, n / 2);
#pragma omp task
  sort(a + n / 2, b + n / 2, n - n / 2);
#pragma omp taskwait
  merge(a, b, n);
}

int main(void) {
  const long n = 64000;
  int* a = malloc((size_t)n * sizeof *a);
  int* b = malloc((size_t)n * sizeof *b);
  unsigned seed = 1;
  for (long i = 0; i < n; ++i) a[i] = (int)((seed = seed * 1103515245u + 12345u) >> 8);
#pragma omp parallel num_threads(4)
#pragma omp single
  sort(a, b, n);
  long wrong = 0;
  for (long i = 1; i < n; ++i) wrong += a[i - 1] > a[i];
  printf("%ld wrong, first %d\n", wrong, a[0]);
  free(a), free(b);
  return 0;
}
