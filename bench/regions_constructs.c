/* What a construct costs, ns: the least of several rounds. Prints "NAME NS" for each. */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static volatile long sink;
static omp_lock_t mutex;

static void critical(long n) {
#pragma omp parallel num_threads(1)
  for (long i = 0; i < n; ++i) {
#pragma omp critical
    sink = i;
  }
}
static void lock(long n) {
  for (long i = 0; i < n; ++i) {
    omp_set_lock(&mutex);
    sink = i;
    omp_unset_lock(&mutex);
  }
}
static void single(long n) {
#pragma omp parallel num_threads(1)
  for (long i = 0; i < n; ++i) {
#pragma omp single nowait
    sink = i;
  }
}
static void barrier(long n) {
#pragma omp parallel num_threads(1)
  for (long i = 0; i < n; ++i) {
#pragma omp barrier
  }
}
static void loop(long n) {
#pragma omp parallel num_threads(1)
  for (long i = 0; i < n; ++i) {
#pragma omp for schedule(dynamic) nowait
    for (int j = 0; j < 1; ++j) sink = i;
  }
}
static void task(long n) {
#pragma omp parallel num_threads(1)
  for (long i = 0; i < n; ++i) {
#pragma omp task
    sink = i;
#pragma omp taskwait
  }
}
static void parallel(long n) {
  for (long i = 0; i < n; ++i) {
#pragma omp parallel num_threads(1)
    sink = i;
  }
}

__attribute__((noinline)) static void called(long i) {
  __asm__ volatile("");
  sink = i;
}
static void function(long n) {
  for (long i = 0; i < n; ++i) called(i);
}

int main(void) {
  static const struct {
    const char* name;
    void (*run)(long);
    long times;
  } cases[] = {{"critical", critical, 100000}, {"lock", lock, 100000},
               {"single", single, 100000},     {"barrier", barrier, 100000},
               {"dynamic loop", loop, 50000},  {"task + taskwait", task, 50000},
               {"parallel", parallel, 20000},  {"function", function, 50000}};
  omp_init_lock(&mutex);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    double least = 1e18;
    for (int round = 0; round < 9; ++round) {
      const double start = now_ns();
      cases[i].run(cases[i].times);
      const double ns = (now_ns() - start) / (double)cases[i].times;
      if (ns < least) least = ns;
    }
    printf("%s %.1f\n", cases[i].name, least);
  }
  return 0;
}
