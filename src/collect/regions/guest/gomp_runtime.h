/* Finds the libgomp that a caller's calls are meant for. */
#ifndef CULPRIT_REGIONS_GOMP_RUNTIME_H
#define CULPRIT_REGIONS_GOMP_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned long long ull;

enum gomp_function {
#define LOOP_START(name, schedule, parameters, arguments) INDEX_##name,
#define LOOP_NEXT(name, type) INDEX_##name,
#define LOOP_END(name, type) INDEX_##name,
#define PARALLEL(name, type, loop, parameters, arguments) INDEX_##name,
#define PARALLEL_START(name, loop, parameters, arguments) INDEX_##name,
#define OTHER(name, type, parameters) INDEX_##name,
#include "openmp/guest/gomp_functions.def"
  kGompFunctions
};

struct gomp_runtime {
  uint64_t begin; /* the caller's mapped memory; all of it if there is one runtime for all */
  uint64_t end;
  void* library;   /* where to look; NULL: behind us in the order of libraries */
  bool is_libgomp; /* not LLVM's runtime in its place, which tells of constructs itself */
  void* functions[kGompFunctions];
};

/* The runtime that calls from `caller` go to; NULL if there is none. */
struct gomp_runtime* gomp_find_runtime(const void* caller);
/* Where a call came from; 0 if a function that we called jumped there as its last act. */
uint64_t gomp_site_of(const void* return_address);
/* The thread is about to call a function of the program's, or has come back to `before`, which this
 * returned then: calls that are its last act seem to come from us. */
const void* gomp_run(const void* function);
/* Its function; NULL if it has none of that number. */
void* gomp_find_function(struct gomp_runtime* runtime, enum gomp_function function);
/* A function of any name and version of the runtime that `caller` means; NULL if there is none. */
void* gomp_find_versioned(const void* caller, const char* name, const char* version);

#endif
