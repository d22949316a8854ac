// Programs whose threads each run a function of their own a known number of times.
//
//     threaded four N     at once: first N stores, second 2N, third 3N, fourth 4N
//     threaded after N    the same, each begins when the one before has ended
//     threaded many N     N threads, one after the other; the nth makes n stores
//     threaded names N    as four; names by prctl, by pthread_setname_np of itself and of another
//     threaded fork N     a thread forks; the child makes 5N stores, and 6N in a thread of its own
//     threaded exec N     a thread executes `threaded four N` in this process
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sinks[8 * 8];
static const char* program;
static const char* words;
static long times;
static pthread_barrier_t named;
static int has_names;

#define STORES(NAME, NUMBER)                                        \
  __attribute__((noinline, noclone)) static void NAME(long count) { \
    for (long i = 0; i < count; ++i) sinks[8 * NUMBER] = i;         \
  }
STORES(first, 1)
STORES(second, 2)
STORES(third, 3)
STORES(fourth, 4)
STORES(in_child, 5)
STORES(in_thread_of_child, 6)

static void wait_for_names(void) {
  if (has_names) pthread_barrier_wait(&named);
}
static void* run_first(void* nothing) {
  if (has_names) prctl(PR_SET_NAME, "one");
  wait_for_names();
  first(times);
  return nothing;
}
static void* run_second(void* nothing) {
  if (has_names) pthread_setname_np(pthread_self(), "two");
  wait_for_names();
  second(2 * times);
  return nothing;
}
static void* run_third(void* nothing) {
  wait_for_names();
  third(3 * times);
  return nothing;
}
static void* run_fourth(void* nothing) {
  wait_for_names();
  fourth(4 * times);
  return nothing;
}
static void* run_in_child(void* nothing) {
  in_thread_of_child(6 * times);
  return nothing;
}

static void run(void* (*function)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, NULL);
  pthread_join(thread, NULL);
}

static void four(void) {
  void* (*const functions[])(void*) = {run_first, run_second, run_third, run_fourth};
  pthread_t threads[4];
  pthread_barrier_init(&named, NULL, 5);
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, functions[i], NULL);
  if (has_names) {
    pthread_setname_np(threads[2], "three");
    prctl(PR_SET_NAME, "zero");
    pthread_barrier_wait(&named);
  }
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
}

static void* run_number(void* number) {
  first((long)number);
  return NULL;
}

static void* run_fork(void* nothing) {
  second(2 * times);
  const pid_t child = fork();
  if (child == 0) {
    in_child(5 * times);
    run(run_in_child);
    exit(0);
  }
  waitpid(child, NULL, 0);
  return nothing;
}

static void* run_exec(void* nothing) {
  second(2 * times);
  execl(program, program, "four", words, NULL);
  return nothing;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  program = arguments[0];
  words = arguments[2];
  times = atol(words);
  const char* how = arguments[1];
  has_names = strcmp(how, "names") == 0;
  if (strcmp(how, "four") == 0 || has_names) four();
  if (strcmp(how, "after") == 0) {
    run(run_first);
    run(run_second);
    run(run_third);
    run(run_fourth);
  }
  if (strcmp(how, "many") == 0) {
    for (long i = 1; i <= times; ++i) {
      pthread_t thread;
      pthread_create(&thread, NULL, run_number, (void*)i);
      pthread_join(thread, NULL);
    }
  }
  if (strcmp(how, "fork") == 0) run(run_fork);
  if (strcmp(how, "exec") == 0) run(run_exec);
  return 0;
}
