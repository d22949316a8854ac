// Programs whose hits, misses and mispredictions can be worked out by hand:
//
//   analytic chase LINES STEP ROUNDS      visits LINES lines, STEP bytes apart, in a circle
//   analytic branch KIND ROUNDS           a branch that is random, biased (1 in 16) or periodic (8)
//   analytic descend DEPTH ROUNDS         calls itself so deep, and comes back
//   analytic product N order              column-order (k innermost) or row-order product
//   analytic matvec N                     matrix times vector on four threads, rows in order
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE void** kernel_chase(void** at, long steps) {
  for (long i = 0; i < steps; ++i) at = (void**)*at;
  return at;
}
static int chase(long lines, long step, long rounds) {
  char* base = aligned_alloc(1 << 21, (size_t)(lines * step + (1 << 21)) >> 21 << 21);
  for (long i = 0; i < lines; ++i) *(char**)(base + i * step) = base + (i + 1) % lines * step;
  return kernel_chase((void**)base, lines * rounds) == NULL;
}

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}
// More than a predictor can learn by heart, and than the test has rounds.
#define BRANCHES (1 << 19)
static NOINLINE long kernel_branch(const uint8_t* taken, long rounds) {
  long a = 0, b = 0;
  for (long i = 0; i < rounds; ++i) {
    if (taken[i & (BRANCHES - 1)]) {
      ++a;
    } else {
      b += 3;
    }
    __asm__ volatile("" : "+r"(a), "+r"(b));
  }
  return a + b;
}
static int branch(const char* kind, long rounds) {
  static uint8_t taken[BRANCHES];
  for (long i = 0; i < BRANCHES; ++i) {
    const uint64_t random = next_random() >> 40;
    taken[i] = *kind == 'r' ? random & 1 : *kind == 'b' ? random % 16 == 0 : i % 8 == 0;
  }
  return kernel_branch(taken, rounds) == 0;
}

static NOINLINE long kernel_descend(long depth) {
  __asm__ volatile("");
  return depth == 0 ? 0 : 1 + kernel_descend(depth - 1);
}

static double *a, *b, *c;
static NOINLINE void kernel_columns(long n) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      double sum = 0;
      for (long k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}
static NOINLINE void kernel_rows(long n) {
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < n; ++k) {
      const double factor = a[i * n + k];
      for (long j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
    }
}
static int product(long n, const char* order) {
  a = aligned_alloc(4096, (size_t)(3 * n * n) * sizeof *a);
  b = a + n * n, c = b + n * n;
  memset(a, 0, (size_t)(3 * n * n) * sizeof *a);
  if (*order == 'c') kernel_columns(n);
  if (*order == 'r') kernel_rows(n);
  return c[1] != 0;
}

static long side;
static NOINLINE void* kernel_matvec(void* part) {
  const long first = (long)part * side / 4;
  for (long i = first; i < first + side / 4; ++i) {
    double sum = 0;
    for (long j = 0; j < side; ++j) sum += a[i * side + j] * b[j];
    c[i] = sum;
  }
  return NULL;
}
static int matvec(long n) {
  side = n;
  a = calloc((size_t)(n * n), sizeof *a);  // never written: the kernel's page of zeros
  b = calloc((size_t)n, sizeof *b);
  c = calloc((size_t)n, sizeof *c);
  pthread_t threads[4];
  for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, kernel_matvec, (void*)i);
  for (long i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return c[1] != 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const long first = atol(argv[2]);
  const long second = argc > 3 ? atol(argv[3]) : 0;
  if (strcmp(argv[1], "chase") == 0) return chase(first, second, argc > 4 ? atol(argv[4]) : 1);
  if (strcmp(argv[1], "branch") == 0) return branch(argv[2], second);
  if (strcmp(argv[1], "product") == 0) return product(first, argv[3]);
  if (strcmp(argv[1], "matvec") == 0) return matvec(first);
  if (strcmp(argv[1], "descend") != 0) return 2;
  long sum = 0;
  for (long i = 0; i < second; ++i) sum += kernel_descend(first);
  return sum < 0;
}
