/* See gomp_runtime.h. A libgomp that came with a library of its own scope (a Python extension) is
 * not behind us in the order of libraries: its symbols are found through the library that calls,
 * which has it among its dependencies. Two such libraries may have two runtimes, which must not
 * be mixed, so the caller decides.
 *
 * A call that is the last act of its function is a jump, and seems to come from where that was
 * called: from us, if we called it, or from a library that has no libgomp (Python's libffi). It
 * must not be lost: it goes to the runtime of the function that we called last, or to one that is
 * known. */
#define _GNU_SOURCE
#include "gomp_runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "libraries.h"
#include "paths.h"

enum { kMaxRuntimes = 64 };
static const char kAny[] = "GOMP_parallel_end"; /* in every version */

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
static struct extent shim;
static __thread const void* running; /* the program's function that we called last */

__attribute__((constructor)) static void find_shim(void) {
  shim = library_around(&shim);
}

static bool is_ours(const void* address) {
  const uint64_t at = (uint64_t)(uintptr_t)address;
  return at >= shim.begin && at < shim.end;
}

uint64_t gomp_site_of(const void* return_address) {
  return is_ours(return_address) ? 0 : (uint64_t)(uintptr_t)return_address - 1;
}

const void* gomp_run(const void* function) {
  const void* const before = running;
  running = function;
  return before;
}

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

static int look_for_libgomp(struct dl_phdr_info* library, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(library->dlpi_name, '/');
  if (name == NULL || strncmp(name, "/libgomp", 8) != 0) return 0;
  *(void**)found = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return *(void**)found != NULL;
}

static struct gomp_runtime* find_known(const void* caller) {
  const uint64_t address = (uint64_t)(uintptr_t)caller;
  const uint32_t count = __atomic_load_n(&runtime_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    if (address >= runtimes[i].begin && address < runtimes[i].end) return &runtimes[i];
  }
  return NULL;
}

static struct gomp_runtime* make_runtime(void* library, const void* function,
                                         struct extent extent) {
  if (runtime_count == kMaxRuntimes) return NULL;
  struct gomp_runtime* made = &runtimes[runtime_count];
  made->library = library;
  made->begin = extent.begin;
  made->end = extent.end;
  made->is_libgomp = is_libgomp(function);
  if (made->is_libgomp) paths_set_flag(CULPRIT_SAW_GOMP);
  __atomic_store_n(&runtime_count, runtime_count + 1, __ATOMIC_RELEASE);
  return made;
}

static struct gomp_runtime* find_other(void) {
  struct gomp_runtime* found = running == NULL ? NULL : find_known(running);
  if (found == NULL && runtime_count > 0) found = &runtimes[runtime_count - 1];
  if (found != NULL) return found;
  void* library = NULL;
  dl_iterate_phdr(look_for_libgomp, &library);
  const struct extent nowhere = {0, 0};
  return library == NULL ? NULL : make_runtime(library, dlsym(library, kAny), nowhere);
}

static struct gomp_runtime* add_runtime(const void* caller) {
  const struct extent everywhere = {0, UINT64_MAX};
  const void* function = dlsym(RTLD_NEXT, kAny);
  if (function != NULL) return make_runtime(NULL, function, everywhere);
  void* library = open_library_of(caller);
  if (library != NULL) function = dlsym(library, kAny);
  if (function == NULL || is_ours(function)) return find_other();
  return make_runtime(library, function, library_around(caller));
}

struct gomp_runtime* gomp_find_runtime(const void* caller) {
  if (is_ours(caller) && running != NULL) caller = running;
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
