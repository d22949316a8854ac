/* Marks of interfaces that have a tool fill tables of functions, and of libraries that are not
 * named after regions: Intel's ITT, NVIDIA's NVTX 3, Google Benchmark, Score-P.
 *
 * ITT's and NVTX's static parts in a program load the library that an environment variable names
 * (regions_recording.cc names us) and call one function of it, below. Layouts are those of
 * their headers; only what is used of them is written out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "constructs.h"
#include "marks.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0) - 1)

/* ---- ITT ---- */

struct itt_id {
  unsigned long long numbers[3];
};
struct itt_domain {
  volatile int flags;
  const char* name;
};
struct itt_string {
  const char* text;
};
struct itt_function {
  const char* name;
  void** pointer;
  void* first;   /* what it points at before a tool is there, which may do without one */
  void* nothing; /* what it may point at for good; NULL: nothing at all */
  int group;
};
struct itt_global {
  unsigned char magic[8];
  unsigned long version[3];
  volatile long state[3];
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** path;
  struct itt_function* functions; /* the last has no name */
};

static void itt_task_begin(const struct itt_domain* domain, struct itt_id task,
                           struct itt_id parent, struct itt_string* name) {
  (void)domain;
  (void)task;
  (void)parent;
  if (name != NULL && name->text != NULL) mark_begin(name->text, UINT64_MAX, CALLER);
}

static void itt_task_end(const struct itt_domain* domain) {
  (void)domain;
  mark_end(NULL, 0, CALLER);
}

static void itt_frame_begin(const struct itt_domain* domain, struct itt_id* frame) {
  (void)frame;
  if (domain != NULL && domain->name != NULL) mark_begin(domain->name, UINT64_MAX, CALLER);
}

static void itt_frame_end(const struct itt_domain* domain, struct itt_id* frame) {
  (void)frame;
  if (domain != NULL && domain->name != NULL) mark_end(domain->name, UINT64_MAX, CALLER);
}

/* LLVM's runtime has the static part, too, and marks what its tool interface tells us already. It
 * relies on what a tool gives back where there seems to be one, so it is told that there is none.
 */
static int is_of_openmp(const void* address) {
  Dl_info library;
  if (dladdr(address, &library) == 0 || library.dli_fname == NULL) return 0;
  const char* name = strrchr(library.dli_fname, '/');
  name = name == NULL ? library.dli_fname : name + 1;
  return strncmp(name, "libomp", 6) == 0 || strncmp(name, "libiomp", 7) == 0;
}

EXPORT void __itt_api_init(struct itt_global* global, int groups);
void __itt_api_init(struct itt_global* global, int groups) {
  (void)groups;
  static const struct {
    const char* name;
    void* function;
  } ours[] = {{"__itt_task_begin", (void*)(uintptr_t)itt_task_begin},
              {"__itt_task_end", (void*)(uintptr_t)itt_task_end},
              {"__itt_frame_begin_v3", (void*)(uintptr_t)itt_frame_begin},
              {"__itt_frame_end_v3", (void*)(uintptr_t)itt_frame_end}};
  if (global == NULL || global->functions == NULL) return;
  const int is_openmp = is_of_openmp(global);
  for (struct itt_function* one = global->functions; one->name != NULL; ++one) {
    if (is_openmp) {
      *one->pointer = NULL;
      continue;
    }
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; ++i) {
      if (strcmp(one->name, ours[i].name) == 0) *one->pointer = ours[i].function;
    }
  }
}

/* ---- NVTX 3 ---- */

struct nvtx_attributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};
enum { kNvtxAscii = 1, kNvtxRegistered = 3 };

static int nvtx_push(const char* name, uint64_t site) {
  mark_begin(name == NULL ? "[range]" : name, UINT64_MAX, site);
  return 0;
}

static int nvtx_push_ascii(const char* name) {
  return nvtx_push(name, CALLER);
}

/* A registered string is the text that we were given with it: it stays as long as its domain. */
static int nvtx_push_attributes(const struct nvtx_attributes* of) {
  const int has_text = of != NULL && of->size >= sizeof *of &&
                       (of->message_type == kNvtxAscii || of->message_type == kNvtxRegistered);
  return nvtx_push(has_text ? of->message : NULL, CALLER);
}

static int nvtx_pop(void) {
  mark_end(NULL, 0, CALLER);
  return 0;
}

static int nvtx_domain_push(void* domain, const struct nvtx_attributes* of) {
  (void)domain;
  return nvtx_push_attributes(of);
}

static int nvtx_domain_pop(void* domain) {
  (void)domain;
  return nvtx_pop();
}

static void* nvtx_register_string(void* domain, const char* text) {
  (void)domain;
  return (void*)(uintptr_t)text;
}

static void* nvtx_create_domain(const char* name) {
  static char any;
  (void)name;
  return &any;
}

typedef const void* nvtx_get_table(uint32_t which);
struct nvtx_callbacks {
  size_t size;
  int (*get_module)(int module, void**** table, unsigned* count);
};
enum { kNvtxCallbacks = 1, kNvtxCore = 1, kNvtxDomains = 5 };

static void nvtx_fill(const struct nvtx_callbacks* callbacks, int module, unsigned number,
                      void* function) {
  void*** table = NULL;
  unsigned count = 0;
  if (!callbacks->get_module(module, &table, &count) || table == NULL || number >= count) return;
  if (table[number] != NULL) *table[number] = function;
}

EXPORT int InitializeInjectionNvtx2(nvtx_get_table* get_table);
int InitializeInjectionNvtx2(nvtx_get_table* get_table) {
  const struct nvtx_callbacks* const callbacks = get_table(kNvtxCallbacks);
  if (callbacks == NULL || callbacks->size < sizeof *callbacks) return 0;
  nvtx_fill(callbacks, kNvtxCore, 8, (void*)(uintptr_t)nvtx_push_attributes);
  nvtx_fill(callbacks, kNvtxCore, 9, (void*)(uintptr_t)nvtx_push_ascii);
  nvtx_fill(callbacks, kNvtxCore, 11, (void*)(uintptr_t)nvtx_pop);
  nvtx_fill(callbacks, kNvtxDomains, 4, (void*)(uintptr_t)nvtx_domain_push);
  nvtx_fill(callbacks, kNvtxDomains, 5, (void*)(uintptr_t)nvtx_domain_pop);
  nvtx_fill(callbacks, kNvtxDomains, 10, (void*)(uintptr_t)nvtx_register_string);
  nvtx_fill(callbacks, kNvtxDomains, 12, (void*)(uintptr_t)nvtx_create_domain);
  return 1;
}

/* ---- Google Benchmark: benchmark::State, whose loop is the region; it has no name of its own,
 * so the function is what it is known by ---- */

typedef void state_function(void* state);

static void benchmark_begin(uint64_t site) {
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  paths_set_flag(CULPRIT_SAW_MARKS);
  const uint32_t path = construct_path(thread, CULPRIT_KIND_USER, CULPRIT_DETAIL_NONE, site);
  construct_begin(thread, path, CULPRIT_KIND_USER, clock_now());
}

static void benchmark_end(uint64_t site) {
  struct thread* const thread = thread_self();
  if (thread != NULL) construct_end(thread, CULPRIT_KIND_USER, clock_now(), site);
}

/* Outside of its loop the library's own work and setting up are no part of the benchmark. */
#define STATE_FUNCTION(name, before, after)                                       \
  EXPORT void name(void* state);                                                  \
  void name(void* state) {                                                        \
    static state_function* next;                                                  \
    const uint64_t site = CALLER;                                                 \
    (void)site;                                                                   \
    if (next == NULL) next = (state_function*)(uintptr_t)dlsym(RTLD_NEXT, #name); \
    before;                                                                       \
    if (next != NULL) next(state);                                                \
    after;                                                                        \
  }

STATE_FUNCTION(_ZN9benchmark5State16StartKeepRunningEv, , benchmark_begin(site))
STATE_FUNCTION(_ZN9benchmark5State17FinishKeepRunningEv, benchmark_end(site), )

/* ---- Score-P's user regions, where its library is shared ---- */

typedef void scorep_begin(void** handle, const char** last_file, void** last_handle,
                          const char* name, uint32_t type, const char* file, uint32_t line);
typedef void scorep_end(void* handle);

EXPORT void SCOREP_User_RegionBegin(void** handle, const char** last_file, void** last_handle,
                                    const char* name, uint32_t type, const char* file,
                                    uint32_t line);
void SCOREP_User_RegionBegin(void** handle, const char** last_file, void** last_handle,
                             const char* name, uint32_t type, const char* file, uint32_t line) {
  static scorep_begin* next;
  if (next == NULL) next = (scorep_begin*)(uintptr_t)dlsym(RTLD_NEXT, "SCOREP_User_RegionBegin");
  if (next != NULL) next(handle, last_file, last_handle, name, type, file, line);
  if (name != NULL) mark_begin(name, UINT64_MAX, CALLER);
}

EXPORT void SCOREP_User_RegionEnd(void* handle);
void SCOREP_User_RegionEnd(void* handle) {
  static scorep_end* next;
  if (next == NULL) next = (scorep_end*)(uintptr_t)dlsym(RTLD_NEXT, "SCOREP_User_RegionEnd");
  mark_end(NULL, 0, CALLER);
  if (next != NULL) next(handle);
}
