/* See ompt.h. The numbers and signatures are those of the OpenMP specification 5.2, chapter 19:
 * no header of any runtime is needed. Two things are not as one would think:
 *
 *   - The end of a worker's implicit barrier at the end of a region arrives when the next region
 *     begins, or at exit: the team's end, seen by its primary thread, bounds it (team_end).
 *   - The end of a mutex has no address now and then: that of its beginning counts. */
#define _GNU_SOURCE
#include "ompt.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "constructs.h"
#include "libraries.h"

typedef union {
  uint64_t value;
  void* pointer;
} ompt_data;

typedef void (*ompt_any)(void);
typedef ompt_any (*ompt_lookup)(const char* name);
typedef int (*ompt_set_callback)(int event, ompt_any callback);

typedef struct {
  int (*initialize)(ompt_lookup lookup, int device, ompt_data* tool);
  void (*finalize)(ompt_data* tool);
  ompt_data tool;
} ompt_result;

enum event {
  kParallelBegin = 3,
  kParallelEnd = 4,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kMutexReleased = 17,
  kWork = 20,
  kMasked = 21,
  kSyncRegion = 23,
  kMutexAcquire = 26,
  kMutexAcquired = 27,
  kNestLock = 28,
  kDispatch = 32,
};
enum endpoint { kBegin = 1, kEnd = 2 };
enum { kTaskInitial = 1, kTaskExplicit = 4 };
enum { kTaskComplete = 1, kTaskCancel = 3 };

static int has_started;

int ompt_has_started(void) {
  return has_started;
}

/* The runtime's own code: an address in it is no construct's. */
static struct extent runtime;

static uint64_t site_of(const void* address) {
  const uint64_t at = (uint64_t)(uintptr_t)address;
  return at == 0 || (at >= runtime.begin && at < runtime.end) ? 0 : at - 1;
}

/* ---- teams ---- */

static void on_parallel_begin(ompt_data* task, const void* frame, ompt_data* parallel,
                              unsigned requested, int flags, const void* address) {
  (void)task;
  (void)frame;
  (void)requested;
  (void)flags;
  parallel->pointer = NULL;
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint64_t now = clock_now();
  const uint16_t kind = CULPRIT_KIND_PARALLEL;
  const uint32_t path = construct_path(thread, kind, CULPRIT_DETAIL_NONE, site_of(address));
  if (path != 0) parallel->pointer = team_begin(thread, path, now);
}

static void on_parallel_end(ompt_data* parallel, ompt_data* task, int flags, const void* address) {
  (void)task;
  (void)flags;
  (void)address;
  struct thread* const thread = thread_self();
  if (thread == NULL || parallel == NULL || parallel->pointer == NULL) return;
  struct team* const team = parallel->pointer;
  member_end(thread, team, clock_now()); /* a team of one may have had no barrier */
  team_end(thread, team, clock_now());
  parallel->pointer = NULL;
}

static void on_implicit_task(int endpoint, ompt_data* parallel, ompt_data* task, unsigned size,
                             unsigned index, int flags) {
  if ((flags & kTaskInitial) != 0) return;
  if (task != NULL) task->value = 0;
  if (endpoint != kBegin || parallel == NULL || parallel->pointer == NULL) return;
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  thread->team_size = size;
  member_begin(thread, parallel->pointer, index, clock_now());
}

/* ---- work-sharing ---- */

struct work {
  uint16_t kind;
  uint16_t detail;
};

static struct work work_of(int type) {
  static const struct work known[] = {
      [1] = {CULPRIT_KIND_LOOP, CULPRIT_DETAIL_OTHER},
      [2] = {CULPRIT_KIND_SECTIONS, 0},
      [3] = {CULPRIT_KIND_SINGLE, 0},
      [4] = {CULPRIT_KIND_SINGLE, 0},
      [5] = {CULPRIT_KIND_WORKSHARE, 0},
      [6] = {CULPRIT_KIND_DISTRIBUTE, 0},
      [7] = {CULPRIT_KIND_TASKLOOP, 0},
      [8] = {CULPRIT_KIND_SCOPE, 0},
      [10] = {CULPRIT_KIND_LOOP, CULPRIT_DETAIL_STATIC},
      [11] = {CULPRIT_KIND_LOOP, CULPRIT_DETAIL_DYNAMIC},
      [12] = {CULPRIT_KIND_LOOP, CULPRIT_DETAIL_GUIDED},
      [13] = {CULPRIT_KIND_LOOP, CULPRIT_DETAIL_OTHER},
  };
  const struct work none = {CULPRIT_KIND_NONE, 0};
  return type < 0 || (size_t)type >= sizeof known / sizeof known[0] ? none : known[type];
}

static void on_work(int type, int endpoint, ompt_data* parallel, ompt_data* task, uint64_t count,
                    const void* address) {
  (void)parallel;
  (void)task;
  const struct work work = work_of(type);
  struct thread* const thread = thread_self();
  if (thread == NULL || work.kind == CULPRIT_KIND_NONE) return;
  const uint64_t now = clock_now();
  if (endpoint == kEnd) {
    thread->last_work = construct_end(thread, work.kind, now, site_of(address));
    return;
  }
  const uint32_t path = construct_path(thread, work.kind, work.detail, site_of(address));
  construct_begin(thread, path, work.kind, now);
  if (type == 3) ++thread_counter(thread, path)->pieces;
  /* Who ran which section is not told, but how many there are, and the runtime hands them out as
   * iterations of a static loop: as many to each thread, and the rest to the first ones. */
  if (work.kind == CULPRIT_KIND_SECTIONS && thread->team_size > 0) {
    const uint64_t rest = count % thread->team_size;
    thread_counter(thread, path)->pieces +=
        count / thread->team_size + (thread->team_number < rest ? 1 : 0);
  }
}

static void on_dispatch(ompt_data* parallel, ompt_data* task, int kind, ompt_data instance) {
  (void)parallel;
  (void)task;
  (void)instance;
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  if (kind != 2) construct_count_piece(thread, CULPRIT_KIND_LOOP);
}

static void on_masked(int endpoint, ompt_data* parallel, ompt_data* task, const void* address) {
  (void)parallel;
  (void)task;
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint64_t now = clock_now();
  if (endpoint == kEnd) {
    construct_end(thread, CULPRIT_KIND_MASTER, now, site_of(address));
    return;
  }
  const uint32_t path =
      construct_path(thread, CULPRIT_KIND_MASTER, CULPRIT_DETAIL_NONE, site_of(address));
  construct_begin(thread, path, CULPRIT_KIND_MASTER, now);
}

/* ---- waiting ---- */

enum sync {
  kBarrier = 1,
  kBarrierImplicit = 2,
  kBarrierExplicit = 3,
  kBarrierImplementation = 4,
  kTaskwait = 5,
  kTaskgroup = 6,
  kReduction = 7,
  kBarrierWorkshare = 8,
  kBarrierParallel = 9,
  kBarrierTeams = 10,
};

/* The team that the thread's innermost parallel region is of. */
static void end_member(struct thread* thread, ompt_data* parallel, uint64_t now) {
  if (parallel != NULL && parallel->pointer != NULL) member_end(thread, parallel->pointer, now);
}

/* After a reduction's barrier the loop's own may follow. */
static void end_waiting(struct thread* thread, uint64_t now) {
  const struct culprit_region_frame* top = &thread->shared->frames[thread->depth - 1];
  const uint32_t work = top->part == CULPRIT_PART_EXIT_BARRIER ? top->path : 0;
  wait_end(thread, now);
  thread->last_work = work;
}

static void on_sync_region(int kind, int endpoint, ompt_data* parallel, ompt_data* task,
                           const void* address) {
  (void)task;
  struct thread* const thread = thread_self();
  if (thread == NULL || kind == kReduction || kind == kBarrierTeams) return;
  const uint64_t now = clock_now();
  /* Before LLVM 16 both implicit barriers have one number. */
  const int ends_team =
      kind == kBarrierParallel || (kind == kBarrierImplicit && thread->last_work == 0 &&
                                   construct_innermost(thread, CULPRIT_KIND_PARALLEL) != 0);
  if (endpoint == kEnd) {
    /* At the end of a team it may arrive when another has begun. */
    const int is_waiting = thread->depth > 0 && thread->shared->frames[thread->depth - 1].is_wait;
    if (kind != kBarrierParallel && is_waiting) end_waiting(thread, now);
    return;
  }
  if (ends_team) {
    end_member(thread, parallel, now);
    return;
  }
  const int is_implicit =
      kind == kBarrierWorkshare || kind == kBarrierImplicit || kind == kBarrierImplementation;
  if (is_implicit && thread->last_work != 0) {
    wait_begin(thread, thread->last_work, CULPRIT_PART_EXIT_BARRIER, now);
    return;
  }
  const uint16_t what = kind == kTaskwait    ? CULPRIT_KIND_TASKWAIT
                        : kind == kTaskgroup ? CULPRIT_KIND_TASKGROUP
                                             : CULPRIT_KIND_BARRIER;
  const uint32_t path = construct_path(thread, what, CULPRIT_DETAIL_NONE, site_of(address));
  wait_begin(thread, path, CULPRIT_PART_WAIT, now);
}

/* ---- one at a time ---- */

static uint16_t kind_of_mutex(int kind) {
  return kind == 5   ? CULPRIT_KIND_CRITICAL
         : kind == 6 ? CULPRIT_KIND_ATOMIC
         : kind == 7 ? CULPRIT_KIND_ORDERED
                     : CULPRIT_KIND_LOCK;
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t lock,
                             const void* address) {
  (void)hint;
  (void)implementation;
  (void)lock;
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  thread->waiting_since = clock_now();
  thread->waited_for =
      construct_path(thread, kind_of_mutex(kind), CULPRIT_DETAIL_NONE, site_of(address));
  if (thread->waited_for != 0) {
    construct_ask(thread, (uint32_t)thread->waited_for, thread->waiting_since);
  }
}

static void on_mutex_acquired(int kind, uint64_t lock, const void* address) {
  (void)address;
  struct thread* const thread = thread_self();
  if (thread == NULL || thread->waited_for == 0) return;
  const uint64_t now = clock_now();
  const uint32_t path = (uint32_t)thread->waited_for;
  thread->waited_for = 0;
  const uint16_t what = kind_of_mutex(kind);
  if (what == CULPRIT_KIND_LOCK) {
    lock_acquired(thread, lock, path, thread->waiting_since, now);
    return;
  }
  construct_add(thread, path, CULPRIT_PART_ENTER, thread->waiting_since, now);
  construct_begin(thread, path, what, now);
}

static void on_mutex_released(int kind, uint64_t lock, const void* address) {
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint64_t now = clock_now();
  const uint16_t what = kind_of_mutex(kind);
  if (what == CULPRIT_KIND_LOCK) {
    lock_released(thread, lock, now);
  } else {
    construct_end(thread, what, now, site_of(address));
  }
}

static void on_nest_lock(int endpoint, uint64_t lock, const void* address) {
  (void)address;
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint64_t now = clock_now();
  if (endpoint == kBegin) {
    lock_acquired(thread, lock, 0, now, now);
  } else {
    lock_released(thread, lock, now);
  }
}

/* ---- tasks ---- */

static void on_task_create(ompt_data* creator, const void* frame, ompt_data* task, int flags,
                           int has_dependences, const void* address) {
  (void)creator;
  (void)frame;
  (void)has_dependences;
  if (task == NULL) return;
  task->value = 0;
  struct thread* const thread = thread_self();
  if (thread == NULL || (flags & kTaskExplicit) == 0) return;
  const uint32_t path =
      construct_path(thread, CULPRIT_KIND_TASK, CULPRIT_DETAIL_NONE, site_of(address));
  task->value = path;
  if (path != 0) ++thread_counter(thread, path)->pieces;
}

static void on_task_schedule(ompt_data* before, int status, ompt_data* next) {
  struct thread* const thread = thread_self();
  if (thread == NULL) return;
  const uint64_t now = clock_now();
  const int is_over = status == kTaskComplete || status == kTaskCancel;
  const int next_is_ours = next != NULL && next->value != 0;
  const int goes_back = next_is_ours && task_is_below(thread, next);
  if (before != NULL && before->value != 0 && task_is_below(thread, before) &&
      (is_over || goes_back)) {
    task_end(thread, now, is_over);
  }
  if (next_is_ours && !goes_back) task_begin(thread, (uint32_t)next->value, next, now);
}

/* ---- the start ---- */

static int on_initialize(ompt_lookup lookup, int device, ompt_data* tool) {
  (void)device;
  (void)tool;
  runtime = library_around((const void*)(uintptr_t)lookup);
  const ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");
  if (set == NULL) return 0;
  const struct {
    int event;
    ompt_any callback;
  } wanted[] = {
      {kParallelBegin, (ompt_any)on_parallel_begin},
      {kParallelEnd, (ompt_any)on_parallel_end},
      {kTaskCreate, (ompt_any)on_task_create},
      {kTaskSchedule, (ompt_any)on_task_schedule},
      {kImplicitTask, (ompt_any)on_implicit_task},
      {kMutexReleased, (ompt_any)on_mutex_released},
      {kWork, (ompt_any)on_work},
      {kMasked, (ompt_any)on_masked},
      {kSyncRegion, (ompt_any)on_sync_region},
      {kMutexAcquire, (ompt_any)on_mutex_acquire},
      {kMutexAcquired, (ompt_any)on_mutex_acquired},
      {kNestLock, (ompt_any)on_nest_lock},
      {kDispatch, (ompt_any)on_dispatch},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i) {
    const int answer = set(wanted[i].event, wanted[i].callback);
    if (answer < 2 && wanted[i].event != kDispatch) paths_set_flag(CULPRIT_OLD_RUNTIME);
  }
  has_started = 1;
  paths_set_flag(CULPRIT_SAW_OMPT);
  return 1;
}

static void on_finalize(ompt_data* tool) {
  (void)tool;
}

/* Called by the runtime when it starts. A tool that the user has named has it; NULL lets the
 * runtime look on. */
__attribute__((visibility("default"))) ompt_result* ompt_start_tool(unsigned version,
                                                                    const char* runtime);
ompt_result* ompt_start_tool(unsigned version, const char* runtime) {
  (void)version;
  (void)runtime;
  static ompt_result result = {on_initialize, on_finalize, {0}};
  if (!paths_are_on()) return NULL;
  const char* other = getenv("OMP_TOOL_LIBRARIES");
  if (other != NULL && other[0] != '\0') {
    paths_set_flag(CULPRIT_OTHER_TOOL);
    return NULL;
  }
  return &result;
}
