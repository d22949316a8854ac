/* libculprit_timer.so: samples the program it is preloaded into, where
 * perf_event_open() is refused. The life of a process:
 *
 *   exec    the constructor below (first of all, -z initfirst): settings from the
 *           environment, handler, ring and timer of the main thread
 *   thread  threads.c     signals  signals.c     a sample  sampler.c
 *   fork    the child gets a ring and a timer of its own
 *   exit    nothing: what is in the shared rings stays, however the end comes
 *
 * vfork() and posix_spawn() children have no timers and borrow their parent's
 * memory; they appear when they exec. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mappings.h"
#include "sampler.h"
#include "signals.h"
#include "threads.h"

#define EXPORT __attribute__((visibility("default")))

static __thread uint32_t forking_tid;

static void before_fork(void) {
  forking_tid = (uint32_t)syscall(SYS_gettid);
}

static void in_child(void) {
  sampler_forget();
  sampler_start(CULPRIT_ORIGIN_FORK, (uint32_t)getppid(), forking_tid);
}

/* So early that libc has not set `environ` yet; glibc passes it. */
__attribute__((constructor)) static void begin_process(int count, char** arguments,
                                                       char** environment) {
  (void)count;
  (void)arguments;
  sampler_configure(environment);
  if (!sampler_is_on()) return;
  threads_prepare();
  signals_install();
  pthread_atfork(before_fork, NULL, in_child);
  sampler_start(CULPRIT_ORIGIN_EXEC, (uint32_t)getppid(), 0);
}

EXPORT int dlclose(void* library) {
  static int (*next)(void*);
  if (next == NULL) next = (int (*)(void*))dlsym(RTLD_NEXT, "dlclose");
  const int failed = next(library);
  mappings_invalidate();
  return failed;
}

/* ---- programs started with an environment of their own ---- */

/* Counts it if the new program will not have us. */
static void look_at_environment(char* const* environment) {
  if (!sampler_is_on()) return;
  for (; environment != NULL && *environment != NULL; ++environment) {
    if (strncmp(*environment, CULPRIT_ENV_FOLDER "=", sizeof CULPRIT_ENV_FOLDER) == 0) return;
  }
  sampler_count_unfollowed();
}

typedef int exec_function(const char*, char* const*, char* const*);

EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) {
  static exec_function* next;
  if (next == NULL) next = (exec_function*)dlsym(RTLD_NEXT, "execve");
  look_at_environment(environment);
  return next(path, arguments, environment);
}

EXPORT int execvpe(const char* file, char* const arguments[], char* const environment[]) {
  static exec_function* next;
  if (next == NULL) next = (exec_function*)dlsym(RTLD_NEXT, "execvpe");
  look_at_environment(environment);
  return next(file, arguments, environment);
}

EXPORT int execv(const char* path, char* const arguments[]) {
  return execve(path, arguments, environ);
}

EXPORT int execvp(const char* file, char* const arguments[]) {
  return execvpe(file, arguments, environ);
}

typedef int spawn_function(pid_t*, const char*, const posix_spawn_file_actions_t*,
                           const posix_spawnattr_t*, char* const*, char* const*);

EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const arguments[],
                       char* const environment[]) {
  static spawn_function* next;
  if (next == NULL) next = (spawn_function*)dlsym(RTLD_NEXT, "posix_spawn");
  look_at_environment(environment);
  return next(pid, path, actions, attributes, arguments, environment);
}

EXPORT int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const arguments[],
                        char* const environment[]) {
  static spawn_function* next;
  if (next == NULL) next = (spawn_function*)dlsym(RTLD_NEXT, "posix_spawnp");
  look_at_environment(environment);
  return next(pid, file, actions, attributes, arguments, environment);
}
