/* libculprit_regions.so: measures the OpenMP constructs of the program it is preloaded into.
 *
 *   exec    the constructor below: settings from the environment; no file before there is a
 *           construct, so programs without OpenMP leave nothing but that we were there
 *   functions  functions.c: those that the host names are wrapped
 *   construct  gomp_wrappers.c, gomp_locks.c (libgomp), ompt.c (runtimes with a tool interface)
 *   fork    the child gets files of its own
 *   exit    what is in the shared files stays, however the end comes */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "functions.h"
#include "ompt.h"
#include "paths.h"
#include "threads.h"

static void in_child(void) {
  paths_after_fork();
  threads_after_fork();
  paths_note_loaded();
}

__attribute__((constructor)) static void begin_process(int count, char** arguments,
                                                       char** environment) {
  (void)count;
  (void)arguments;
  paths_configure(environment);
  if (!paths_are_on()) return;
  threads_prepare();
  counters_prepare();
  functions_prepare();
  paths_note_loaded();
  pthread_atfork(NULL, NULL, in_child);
}

static int look_for_llvm(struct dl_phdr_info* library, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(library->dlpi_name, '/');
  name = name == NULL ? library->dlpi_name : name + 1;
  if (strncmp(name, "libomp", 6) != 0 && strncmp(name, "libiomp", 7) != 0) return 0;
  *(int*)found = strncmp(name, "libompt", 7) != 0 && strncmp(name, "libompd", 7) != 0;
  return *(int*)found;
}

/* A runtime that did not ask for us: nothing of it was measured, which must be told. */
__attribute__((destructor)) static void end_process(void) {
  if (!paths_are_on() || ompt_has_started()) return;
  int is_there = 0;
  const int saved_errno = errno;
  dl_iterate_phdr(look_for_llvm, &is_there);
  if (is_there) {
    paths_set_flag(CULPRIT_SAW_UNTOLD);
    const char* setting = getenv("OMP_TOOL");
    if (setting != NULL && strcmp(setting, "disabled") == 0) paths_set_flag(CULPRIT_TOOL_DISABLED);
  }
  errno = saved_errno;
}
