/* Two regions that alternate, with code outside of them between: in each of the three a function
 * of its own spins, so a sample's address says which region its thread was in.
 *
 *     alternate NANOSECONDS SECONDS THREADS
 *
 * Each spins for about so many nanoseconds, all together for so many seconds of CPU time. Prints
 * the CPU time of the first thread in the first region and in the second, in seconds. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kThreads = 64, kApart = 16 };
static volatile unsigned long sums[kThreads * kApart];

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double cpu_s(void) {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

static double thread_s(void) {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

/* What is added keeps the compiler from making one function of the three. */
#define SPIN(name, step)                                                   \
  __attribute__((noinline)) static void name(int thread, long rounds) {    \
    for (long i = 0; i < rounds; ++i) sums[thread * kApart] += step * 3ul; \
  }
SPIN(in_first, 1)
SPIN(in_second, 2)
SPIN(outside, 4)

int main(int count, char** words) {
  if (count != 4) return 2;
  const double region_ns = atof(words[1]);
  const double seconds = atof(words[2]);
  const int threads = atoi(words[3]);
  if (threads < 1 || threads > kThreads) return 2;
  const double start = cpu_s();
  outside(0, 5000000);
  const long rounds = (long)(region_ns * 5e6 / ((cpu_s() - start) * 1e9)) + 1;
  const double end = cpu_s() + seconds;
  double first_s = 0, second_s = 0;
  while (cpu_s() < end) {
    const double begin_first = thread_s();
#pragma omp parallel num_threads(threads)
    in_first(omp_get_thread_num(), rounds);
    const double begin_second = thread_s();
#pragma omp parallel num_threads(threads)
    in_second(omp_get_thread_num(), rounds);
    second_s += thread_s() - begin_second;
    first_s += begin_second - begin_first;
    outside(0, rounds);
  }
  printf("%.6f %.6f\n", first_s, second_s);
  return 0;
}
