/* The locks of libgomp. Each function exists twice there, for locks of two layouts (OMP_1.0 and
 * OMP_3.0), and again for Fortran: both versions are exported, and each goes on to its own. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>

#include "constructs.h"
#include "gomp_runtime.h"

#define EXPORT __attribute__((visibility("default")))

typedef void set_function(void*);
typedef int test_function(void*);

static void measure_set(set_function* real, void* lock, const void* caller) {
  struct thread* const thread = thread_self();
  if (thread == NULL) {
    real(lock);
    return;
  }
  const uint32_t path =
      construct_path(thread, CULPRIT_KIND_LOCK, CULPRIT_DETAIL_NONE, gomp_site_of(caller));
  const uint64_t start = clock_now();
  if (path != 0) construct_ask(thread, path, start);
  real(lock);
  if (path != 0) lock_acquired(thread, (uint64_t)(uintptr_t)lock, path, start, clock_now());
}

static int measure_test(test_function* real, void* lock, const void* caller) {
  struct thread* const thread = thread_self();
  if (thread == NULL) return real(lock);
  const uint32_t path =
      construct_path(thread, CULPRIT_KIND_LOCK, CULPRIT_DETAIL_NONE, gomp_site_of(caller));
  const uint64_t start = clock_now();
  const int got = real(lock);
  if (path != 0 && got) {
    lock_acquired(thread, (uint64_t)(uintptr_t)lock, path, start, clock_now());
  }
  return got;
}

static void measure_unset(set_function* real, void* lock) {
  struct thread* const thread = thread_self();
  const uint64_t end = clock_now();
  const uint32_t path = thread == NULL ? 0 : lock_released(thread, (uint64_t)(uintptr_t)lock, end);
  real(lock);
  if (path != 0) construct_add(thread, path, CULPRIT_PART_EXIT, end, clock_now());
}

/* The runtime's function is looked up once for the libraries that share a runtime; callers with
 * runtimes of their own ask each time. */
#define FIND(type, name, version)                                                   \
  const void* const caller = __builtin_return_address(0);                           \
  struct gomp_runtime* const runtime = gomp_find_runtime(caller);                   \
  static type* shared;                                                              \
  type* real = NULL;                                                                \
  if (runtime != NULL && runtime->library == NULL) {                                \
    if (shared == NULL) shared = (type*)gomp_find_versioned(caller, name, version); \
    real = shared;                                                                  \
  } else {                                                                          \
    real = (type*)gomp_find_versioned(caller, name, version);                       \
  }                                                                                 \
  const int is_ours = runtime != NULL && runtime->is_libgomp

#define SET(local, name, version)      \
  EXPORT void local(void* lock);       \
  void local(void* lock) {             \
    FIND(set_function, name, version); \
    if (real == NULL) return;          \
    if (!is_ours) {                    \
      real(lock);                      \
      return;                          \
    }                                  \
    measure_set(real, lock, caller);   \
  }

#define UNSET(local, name, version)    \
  EXPORT void local(void* lock);       \
  void local(void* lock) {             \
    FIND(set_function, name, version); \
    if (real == NULL) return;          \
    if (!is_ours) {                    \
      real(lock);                      \
      return;                          \
    }                                  \
    measure_unset(real, lock);         \
  }

#define TEST(local, name, version)           \
  EXPORT int local(void* lock);              \
  int local(void* lock) {                    \
    FIND(test_function, name, version);      \
    if (real == NULL) return 0;              \
    if (!is_ours) return real(lock);         \
    return measure_test(real, lock, caller); \
  }

#define LOCKS(suffix, tag)                                               \
  SET(set_lock_1##tag, "omp_set_lock" suffix, "OMP_1.0")                 \
  SET(set_lock_3##tag, "omp_set_lock" suffix, "OMP_3.0")                 \
  UNSET(unset_lock_1##tag, "omp_unset_lock" suffix, "OMP_1.0")           \
  UNSET(unset_lock_3##tag, "omp_unset_lock" suffix, "OMP_3.0")           \
  TEST(test_lock_1##tag, "omp_test_lock" suffix, "OMP_1.0")              \
  TEST(test_lock_3##tag, "omp_test_lock" suffix, "OMP_3.0")              \
  SET(set_nest_lock_1##tag, "omp_set_nest_lock" suffix, "OMP_1.0")       \
  SET(set_nest_lock_3##tag, "omp_set_nest_lock" suffix, "OMP_3.0")       \
  UNSET(unset_nest_lock_1##tag, "omp_unset_nest_lock" suffix, "OMP_1.0") \
  UNSET(unset_nest_lock_3##tag, "omp_unset_nest_lock" suffix, "OMP_3.0") \
  TEST(test_nest_lock_1##tag, "omp_test_nest_lock" suffix, "OMP_1.0")    \
  TEST(test_nest_lock_3##tag, "omp_test_nest_lock" suffix, "OMP_3.0")

LOCKS("", )
LOCKS("_", _)

#define NAME(local, name)                               \
  __asm__(".symver " #local "_1, " #name "@OMP_1.0");   \
  __asm__(".symver " #local "_3, " #name "@@OMP_3.0");  \
  __asm__(".symver " #local "_1_, " #name "_@OMP_1.0"); \
  __asm__(".symver " #local "_3_, " #name "_@@OMP_3.0")

NAME(set_lock, omp_set_lock);
NAME(unset_lock, omp_unset_lock);
NAME(test_lock, omp_test_lock);
NAME(set_nest_lock, omp_set_nest_lock);
NAME(unset_nest_lock, omp_unset_nest_lock);
NAME(test_nest_lock, omp_test_nest_lock);
