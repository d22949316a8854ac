/* Two threads take turns in a critical section in which one works and the other waits: the
 * other's time is waiting. Each is in it for about 0.3 s of its own CPU time. */
#include <time.h>

static volatile unsigned long sum;

static double cpu_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void in_critical(void) {
  for (long i = 0; i < 1000000; ++i) sum += (unsigned long)i;
}

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp critical
    {
      const double end = cpu_s() + 0.3;
      while (cpu_s() < end) in_critical();
    }
  }
  return 0;
}
