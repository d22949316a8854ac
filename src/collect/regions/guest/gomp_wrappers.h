/* What every wrapper of libgomp's functions begins with, and singles, which other constructs end.
 */
#ifndef CULPRIT_REGIONS_GOMP_WRAPPERS_H
#define CULPRIT_REGIONS_GOMP_WRAPPERS_H

#include <stdint.h>

#include "gomp_runtime.h"
#include "threads.h"

#define EXPORT __attribute__((visibility("default")))

/* `real`: the runtime's own function. `thread`: NULL if nothing is to be measured. */
#define FIND_REAL(name)                                                                      \
  const void* const caller = __builtin_return_address(0);                                    \
  struct gomp_runtime* const runtime = gomp_find_runtime(caller);                            \
  __typeof__(name)* const real =                                                             \
      runtime == NULL ? NULL : (__typeof__(name)*)gomp_find_function(runtime, INDEX_##name); \
  struct thread* const thread = runtime != NULL && runtime->is_libgomp ? thread_self() : NULL

static inline void run_body(void (*function)(void*), void* data) {
  const void* const before = gomp_run((const void*)(uintptr_t)function);
  function(data);
  gomp_run(before);
}

/* Of a single whose body the thread may run: another construct begins. `frame_of_caller`: of the
 * function that begins it; `is_shared`: it is the whole team's. */
void leave_open_single(struct thread* thread, const void* frame_of_caller, int is_shared);
void begin_single(struct thread* thread, uint32_t path, int is_executor, uint64_t now,
                  const void* frame_of_caller);
/* At a barrier: the path of the single that it ends, 0 if it ends none. `frame_of_caller`: NULL if
 * its function has ended by it. */
uint32_t end_single(struct thread* thread, uint64_t now, const void* frame_of_caller);

#endif
