// Takes a second way where the CPU keeps subnormal numbers: with them flushed to zero it is done at
// once, on any CPU, however fast it computes with them. "cpus": how many CPUs it has after it asked
// for each of them alone.
#define _GNU_SOURCE
#include <float.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile double smallest = DBL_MIN;

static NOINLINE double sum_up(long rounds) {
  volatile double sum = 0;
  for (long i = 0; i < rounds; ++i) sum = sum + 1.5;
  return sum;
}

static NOINLINE double keep_tail(void) {
  return smallest / 2 == 0 ? 0 : sum_up(12000000);
}

static void print_cpus(void) {
  cpu_set_t all, now;
  sched_getaffinity(0, sizeof all, &all);
  int wished = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    wished += pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
    sched_getaffinity(0, sizeof now, &now);
    printf("%d of %d\n", CPU_COUNT(&now), CPU_COUNT(&all));
    sched_setaffinity(0, sizeof all, &all);
  }
  printf("%d granted\n", wished);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "cpus") == 0) {
    print_cpus();
    return 0;
  }
  printf("%g\n", smallest / 2);
  printf("%g %g\n", keep_tail(), sum_up(2000000));
  return 0;
}
