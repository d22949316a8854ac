// The program was started on one CPU. Its own wishes for others are granted in words only.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

int sched_setaffinity(pid_t task, size_t bytes, const cpu_set_t* cpus) {
  (void)task, (void)bytes, (void)cpus;
  return 0;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* cpus) {
  (void)thread, (void)bytes, (void)cpus;
  return 0;
}

int pthread_attr_setaffinity_np(pthread_attr_t* attributes, size_t bytes, const cpu_set_t* cpus) {
  (void)attributes, (void)bytes, (void)cpus;
  return 0;
}
