/* Two regions that alternate, with code outside of them between: in each of the three a function
 * of its own spins, so a sample's address says which region its thread was in.
 *
 *     alternate NANOSECONDS SECONDS THREADS
 *
 * Each spins for about so many nanoseconds, all together for so many seconds of CPU time. */
#include <omp.h>
#include <stdlib.h>
#include <time.h>

enum { kThreads = 64, kApart = 16 };
static volatile unsigned long sums[kThreads * kApart];

static double cpu_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
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
  while (cpu_s() < end) {
#pragma omp parallel num_threads(threads)
    in_first(omp_get_thread_num(), rounds);
#pragma omp parallel num_threads(threads)
    in_second(omp_get_thread_num(), rounds);
    outside(0, rounds);
  }
  return 0;
}
