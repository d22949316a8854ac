/* Regions that programs mark: by our own header (include/culprit/region.h), and by what they may
 * have already. LIKWID's functions are passed on to its library where it is there; Kokkos calls its
 * tool, which we are if nobody else is (regions_recording.cc names us in KOKKOS_TOOLS_LIBS). */
#define _GNU_SOURCE
#include "marks.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "constructs.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

void mark_begin(const char* name, uint64_t length, uint64_t site) {
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint32_t number = paths_find_name(name, length);
  if (number == 0) return;
  paths_set_flag(CULPRIT_SAW_MARKS);
  region_begin(thread, number, site);
}

void mark_end(const char* name, uint64_t length, uint64_t site) {
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint32_t number = name == NULL ? 0 : paths_find_name(name, length);
  if (name == NULL || number != 0) region_end(thread, number, site);
}

/* ---- ours ---- */

EXPORT void culprit_region_begin(const char* name);
void culprit_region_begin(const char* name) {
  mark_begin(name, UINT64_MAX, CALLER);
}

EXPORT void culprit_region_end(const char* name);
void culprit_region_end(const char* name) {
  mark_end(name, UINT64_MAX, CALLER);
}

/* ---- functions of code that is compiled with -finstrument-functions ---- */

EXPORT void __cyg_profile_func_enter(void* function, void* caller);
void __cyg_profile_func_enter(void* function, void* caller) {
  (void)caller;
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint32_t path =
      construct_path_of_function(thread, CULPRIT_KIND_FUNCTION, CULPRIT_DETAIL_NONE, function);
  construct_begin(thread, path, CULPRIT_KIND_FUNCTION, clock_now());
}

EXPORT void __cyg_profile_func_exit(void* function, void* caller);
void __cyg_profile_func_exit(void* function, void* caller) {
  (void)function;
  (void)caller;
  struct thread* const thread = thread_self();
  if (thread != NULL) construct_end(thread, CULPRIT_KIND_FUNCTION, clock_now(), 0);
}

/* ---- LIKWID ---- */

typedef int likwid_function(const char*);
typedef void likwid_fortran(char*, int);

EXPORT int likwid_markerStartRegion(const char* name);
int likwid_markerStartRegion(const char* name) {
  static likwid_function* next;
  if (next == NULL) next = (likwid_function*)dlsym(RTLD_NEXT, "likwid_markerStartRegion");
  const int result = next == NULL ? 0 : next(name);
  mark_begin(name, UINT64_MAX, CALLER);
  return result;
}

EXPORT int likwid_markerStopRegion(const char* name);
int likwid_markerStopRegion(const char* name) {
  static likwid_function* next;
  if (next == NULL) next = (likwid_function*)dlsym(RTLD_NEXT, "likwid_markerStopRegion");
  mark_end(name, UINT64_MAX, CALLER);
  return next == NULL ? 0 : next(name);
}

/* Fortran's names end with blanks. */
static uint64_t length_of(const char* name, int length) {
  while (length > 0 && name[length - 1] == ' ') --length;
  return length > 0 ? (uint64_t)length : 0;
}

EXPORT void likwid_markerstartregion_(char* name, int length);
void likwid_markerstartregion_(char* name, int length) {
  static likwid_fortran* next;
  if (next == NULL) next = (likwid_fortran*)dlsym(RTLD_NEXT, "likwid_markerstartregion_");
  if (next != NULL) next(name, length);
  mark_begin(name, length_of(name, length), CALLER);
}

EXPORT void likwid_markerstopregion_(char* name, int length);
void likwid_markerstopregion_(char* name, int length) {
  static likwid_fortran* next;
  if (next == NULL) next = (likwid_fortran*)dlsym(RTLD_NEXT, "likwid_markerstopregion_");
  mark_end(name, length_of(name, length), CALLER);
  if (next != NULL) next(name, length);
}

/* ---- Kokkos ---- */

EXPORT void kokkosp_push_profile_region(const char* name);
void kokkosp_push_profile_region(const char* name) {
  mark_begin(name, UINT64_MAX, 0);
}

EXPORT void kokkosp_pop_profile_region(void);
void kokkosp_pop_profile_region(void) {
  mark_end(NULL, 0, 0);
}

#define KERNEL(what)                                                                     \
  EXPORT void kokkosp_begin_##what(const char* name, uint32_t device, uint64_t* kernel); \
  void kokkosp_begin_##what(const char* name, uint32_t device, uint64_t* kernel) {       \
    (void)device;                                                                        \
    *kernel = name == NULL ? 0 : paths_find_name(name, UINT64_MAX);                      \
    mark_begin(name, UINT64_MAX, 0);                                                     \
  }                                                                                      \
  EXPORT void kokkosp_end_##what(uint64_t kernel);                                       \
  void kokkosp_end_##what(uint64_t kernel) {                                             \
    struct thread* const thread = thread_self();                                         \
    if (thread != NULL && kernel != 0) region_end(thread, (uint32_t)kernel, 0);          \
  }

KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)

/* ---- PAPI's high level, and Caliper's regions, where their libraries are shared ---- */

#define PASS_ON(type, name, is_beginning)                                   \
  EXPORT type name(const char* region);                                     \
  type name(const char* region) {                                           \
    static type (*next)(const char*);                                       \
    if (next == NULL) next = (type(*)(const char*))dlsym(RTLD_NEXT, #name); \
    if (is_beginning) {                                                     \
      mark_begin(region, UINT64_MAX, CALLER);                               \
    } else {                                                                \
      mark_end(region, UINT64_MAX, CALLER);                                 \
    }                                                                       \
    return next == NULL ? (type)0 : next(region);                           \
  }

PASS_ON(int, PAPI_hl_region_begin, 1)
PASS_ON(int, PAPI_hl_region_end, 0)

#define PASS_ON_VOID(name, is_beginning)                                     \
  EXPORT void name(const char* region);                                      \
  void name(const char* region) {                                            \
    static void (*next)(const char*);                                        \
    if (next == NULL) next = (void (*)(const char*))dlsym(RTLD_NEXT, #name); \
    if (is_beginning) {                                                      \
      mark_begin(region, UINT64_MAX, CALLER);                                \
    } else {                                                                 \
      mark_end(region, UINT64_MAX, CALLER);                                  \
    }                                                                        \
    if (next != NULL) next(region);                                          \
  }

PASS_ON_VOID(cali_begin_region, 1)
PASS_ON_VOID(cali_end_region, 0)
