/* See gomp_runtime.h. A libgomp that came with a library of its own scope (a Python extension) is
 * not behind us in the order of libraries: its symbols are found through the library that calls,
 * which has it among its dependencies. Two such libraries may have two runtimes, which must not
 * be mixed, so the caller decides. */
#define _GNU_SOURCE
#include "gomp_runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "libraries.h"
#include "paths.h"

enum { kMaxRuntimes = 64 };

static const char* const names[kGompFunctions] = {
#define LOOP_START(name, schedule, parameters, arguments) #name,
#define LOOP_NEXT(name, type) #name,
#define LOOP_END(name, type) #name,
#define PARALLEL(name, type, loop, parameters, arguments) #name,
#define PARALLEL_START(name, loop, parameters, arguments) #name,
#define OTHER(name, type, parameters) #name,
#include "openmp/guest/gomp_functions.def"
};

static struct gomp_runtime runtimes[kMaxRuntimes];
static uint32_t runtime_count;
static char busy;

static bool is_libgomp(const void* function) {
  Dl_info info;
  if (function == NULL || dladdr(function, &info) == 0 || info.dli_fname == NULL) return false;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return true;
  const bool is_llvm = dlsym(library, "__kmpc_fork_call") != NULL;
  dlclose(library);
  return !is_llvm;
}

/* The library that calls, or another runtime that is loaded, to look in. */
static void* open_library_of(const void* caller) {
  Dl_info info;
  if (dladdr(caller, &info) == 0 || info.dli_fname == NULL) return NULL;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static struct gomp_runtime* add_runtime(const void* caller) {
  if (runtime_count == kMaxRuntimes) return NULL;
  struct gomp_runtime* made = &runtimes[runtime_count];
  const char* any = "GOMP_parallel_end"; /* in every version */
  void* function = dlsym(RTLD_NEXT, any);
  if (function != NULL) {
    made->begin = 0;
    made->end = UINT64_MAX;
  } else {
    const struct extent extent = library_around(caller);
    made->library = open_library_of(caller);
    if (made->library != NULL) function = dlsym(made->library, any);
    if (function == NULL) return NULL;
    made->begin = extent.begin;
    made->end = extent.end;
  }
  made->is_libgomp = is_libgomp(function);
  if (made->is_libgomp) paths_set_flag(CULPRIT_SAW_GOMP);
  __atomic_store_n(&runtime_count, runtime_count + 1, __ATOMIC_RELEASE);
  return made;
}

static struct gomp_runtime* find_known(const void* caller) {
  const uint64_t address = (uint64_t)(uintptr_t)caller;
  const uint32_t count = __atomic_load_n(&runtime_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    if (address >= runtimes[i].begin && address < runtimes[i].end) return &runtimes[i];
  }
  return NULL;
}

struct gomp_runtime* gomp_find_runtime(const void* caller) {
  struct gomp_runtime* found = find_known(caller);
  if (found != NULL) return found;
  const int saved_errno = errno;
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
  }
  found = find_known(caller);
  if (found == NULL) found = add_runtime(caller);
  __atomic_clear(&busy, __ATOMIC_RELEASE);
  errno = saved_errno;
  return found;
}

void* gomp_find_function(struct gomp_runtime* runtime, enum gomp_function function) {
  void* found = __atomic_load_n(&runtime->functions[function], __ATOMIC_ACQUIRE);
  if (found != NULL) return found;
  const int saved_errno = errno;
  found = dlsym(runtime->library == NULL ? RTLD_NEXT : runtime->library, names[function]);
  __atomic_store_n(&runtime->functions[function], found, __ATOMIC_RELEASE);
  errno = saved_errno;
  return found;
}

void* gomp_find_versioned(const void* caller, const char* name, const char* version) {
  struct gomp_runtime* runtime = gomp_find_runtime(caller);
  if (runtime == NULL) return NULL;
  void* where = runtime->library == NULL ? RTLD_NEXT : runtime->library;
  void* found = dlvsym(where, name, version);
  return found != NULL ? found : dlsym(where, name);
}
