/* Threads: each starts and ends its own sampling. We stand in front of
 * pthread_create(); the end is seen by the destructor of a thread-specific key,
 * which pthread_exit(), cancellation and return all run.
 *
 * Not seen: threads made by clone() directly, and by thrd_create(). */
#define _GNU_SOURCE
#include "threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"

typedef int create_function(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

struct beginning {
  void* (*run)(void*);
  void* argument;
  uint32_t parent_tid;
};

static pthread_key_t end_key;
static int has_end_key;

static void end_thread(void* ignored) {
  (void)ignored;
  sampler_stop();
}

void threads_prepare(void) {
  has_end_key = pthread_key_create(&end_key, end_thread) == 0;
}

static void* begin_thread(void* argument) {
  const struct beginning beginning = *(struct beginning*)argument;
  free(argument);
  sampler_start(CULPRIT_ORIGIN_THREAD, (uint32_t)getpid(), beginning.parent_tid);
  pthread_setspecific(end_key, &end_key); /* any value that is not NULL */
  return beginning.run(beginning.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                          const pthread_attr_t* attributes,
                                                          void* (*run)(void*), void* argument) {
  static create_function* next;
  if (next == NULL) next = (create_function*)dlsym(RTLD_NEXT, "pthread_create");
  struct beginning* beginning = NULL;
  if (sampler_is_on() && has_end_key) beginning = malloc(sizeof *beginning);
  if (beginning == NULL) return next(thread, attributes, run, argument);

  beginning->run = run;
  beginning->argument = argument;
  beginning->parent_tid = (uint32_t)syscall(SYS_gettid);
  const int failed = next(thread, attributes, begin_thread, beginning);
  if (failed) free(beginning);
  return failed;
}
