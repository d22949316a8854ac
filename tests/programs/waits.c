// Waits of known length: prints, as JSON, what each function took by the clock, and on its CPU.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void nap(long ms) {
  struct timespec span = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&span, NULL);
}

static void* hold_and_write(void* unused) {
  nap(300);
  pthread_mutex_unlock(&lock);  // a default mutex: any thread may give it back here
  nap(200);
  if (write(ends[1], "x", 1) != 1) abort();
  return unused;
}

__attribute__((noinline)) void wait_for_sleep(void) {
  for (int i = 0; i < 20; ++i) nap(20);
}
__attribute__((noinline)) void wait_for_lock(void) {
  pthread_mutex_lock(&lock);
  __asm__ volatile("");
}
__attribute__((noinline)) void wait_for_pipe(void) {
  char byte;
  if (read(ends[0], &byte, 1) != 1) abort();
}
__attribute__((noinline)) void work(void) {
  const double end = seconds(CLOCK_THREAD_CPUTIME_ID) + 0.3;
  while (seconds(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

static void measure(const char* name, void (*part)(void), const char* comma) {
  const double wall = seconds(CLOCK_MONOTONIC);
  const double cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
  part();
  const double cpu_end = seconds(CLOCK_THREAD_CPUTIME_ID);
  printf("\"%s\": {\"wall\": %.6f, \"cpu\": %.6f}%s", name, seconds(CLOCK_MONOTONIC) - wall,
         cpu_end - cpu, comma);
}

int main(void) {
  pthread_t other;
  if (pipe(ends) != 0) return 1;
  const double start = seconds(CLOCK_MONOTONIC);
  printf("{");
  measure("work", work, ", ");
  measure("wait_for_sleep", wait_for_sleep, ", ");
  pthread_mutex_lock(&lock);
  pthread_create(&other, NULL, hold_and_write, NULL);
  measure("wait_for_lock", wait_for_lock, ", ");
  measure("wait_for_pipe", wait_for_pipe, "");
  pthread_join(other, NULL);
  FILE* account = fopen("/proc/self/schedstat", "r");  // of this thread: on a CPU, ready [ns]
  double on_cpu = 0;
  double ready = 0;
  if (account == NULL || fscanf(account, "%lf %lf", &on_cpu, &ready) != 2) return 1;
  printf(", \"whole\": {\"wall\": %.6f, \"cpu\": %.6f, \"ready\": %.6f}}\n",
         seconds(CLOCK_MONOTONIC) - start, on_cpu * 1e-9, ready * 1e-9);
  return 0;
}
