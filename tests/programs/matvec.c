// The matrix-vector product of papers/data-structure-profiling, its loops in the bad order, by four
// threads: each loads N * N / 4 elements of a, once. -DN=... sets the size.
#include <pthread.h>
#include <stdio.h>

#ifndef N
#define N 400
#endif
enum { kThreads = 4, kRows = N / kThreads };

static double a[(long)N * N];
static double b[N], c[N];

static __attribute__((noinline)) void* multiply(void* which) {
  const long first = (long)which * kRows;
  for (long i = first; i < first + kRows; ++i) {
    double sum = 0;
    for (long j = 0; j < N; ++j) sum += a[j * N + i] * b[j];
    c[i] = sum;
  }
  return NULL;
}

int main(void) {
  for (long i = 0; i < N; ++i) b[i] = (double)i;
  for (long i = 0; i < (long)N * N; ++i) a[i] = 1;
  pthread_t threads[kThreads];
  for (long t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, multiply, (void*)t);
  for (long t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  return printf("%g\n", c[N / 2]) < 0;
}
