/* The functions of libgomp, in front of the real ones: each tells constructs.h what it sees and
 * does what was asked of it. Most are made from the table gomp_functions.def; gomp_tasks.c has
 * those of tasks. */
#define _GNU_SOURCE
#include "gomp_wrappers.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "constructs.h"

#define UNPACK(...) __VA_ARGS__

/* A program that asks whether a runtime is there, and calls what is not. */
static void* nothing(void) {
  return NULL;
}

/* ---- loops ---- */

static void begin_work(struct thread* thread, uint16_t kind, uint16_t detail, const void* caller,
                       const void* frame_of_caller) {
  leave_open_single(thread, frame_of_caller, 1);
  const uint64_t now = clock_now();
  const uint32_t path = construct_path(thread, kind, detail, gomp_site_of(caller));
  construct_begin(thread, path, kind, now);
}

/* The end of a loop or of sections; `real` may wait for the team. */
#define END_WORK(kind)                                                             \
  const uint64_t end = thread == NULL ? 0 : clock_now();                           \
  const uint32_t path =                                                            \
      thread == NULL ? 0 : construct_end(thread, kind, end, gomp_site_of(caller)); \
  if (path != 0) wait_begin(thread, path, CULPRIT_PART_EXIT_BARRIER, end)

#define WAITED \
  if (path != 0) wait_end(thread, clock_now())

#define LOOP_START(name, schedule, parameters, arguments)                    \
  EXPORT bool name parameters;                                               \
  bool name parameters {                                                     \
    FIND_REAL(name);                                                         \
    if (real == NULL) return nothing() != NULL;                              \
    if (thread == NULL) return real arguments;                               \
    begin_work(thread, CULPRIT_KIND_LOOP, CULPRIT_DETAIL_##schedule, caller, \
               __builtin_dwarf_cfa());                                       \
    const bool has_chunk = real arguments;                                   \
    if (has_chunk) construct_count_piece(thread, CULPRIT_KIND_LOOP);         \
    return has_chunk;                                                        \
  }

#define LOOP_NEXT(name, type)                                                          \
  EXPORT bool name(type* from, type* to);                                              \
  bool name(type* from, type* to) {                                                    \
    FIND_REAL(name);                                                                   \
    if (real == NULL) return nothing() != NULL;                                        \
    const bool has_chunk = real(from, to);                                             \
    if (thread != NULL && has_chunk) construct_count_piece(thread, CULPRIT_KIND_LOOP); \
    return has_chunk;                                                                  \
  }

#define GET_void(call) call
#define GET_bool(call) const bool result = call
#define GIVE_void
#define GIVE_bool return result

#define LOOP_END(name, type)                             \
  EXPORT type name(void);                                \
  type name(void) {                                      \
    FIND_REAL(name);                                     \
    if (real == NULL) return (type)(uintptr_t)nothing(); \
    END_WORK(CULPRIT_KIND_LOOP);                         \
    GET_##type(real());                                  \
    WAITED;                                              \
    GIVE_##type;                                         \
  }

/* ---- teams ---- */

/* What a thread of a team runs in place of the program's function. */
static void run_member(void* argument) {
  struct team* const team = argument;
  struct thread* const thread = thread_self();
  void (*const function)(void*) = team->function;
  void* const data = team->data;
  if (thread == NULL) {
    run_body(function, data);
    return;
  }
  const int is_primary = team >= thread->teams && team < thread->teams + kTeams;
  unsigned number = is_primary ? 0 : 1;
  if (!is_primary && thread->shared->number == 0) {
    struct gomp_runtime* runtime = gomp_find_runtime((const void*)(uintptr_t)function);
    int (*get)(void) = runtime == NULL
                           ? NULL
                           : (int (*)(void))gomp_find_function(runtime, INDEX_omp_get_thread_num);
    if (get != NULL) number = (unsigned)get();
  }
  member_begin(thread, team, number, clock_now());
  run_body(function, data);
  member_end(thread, team, clock_now());
}

/* A team that is about to start; NULL if it cannot be measured. */
static struct team* prepare_team(struct thread* thread, void (*function)(void*), void* data,
                                 uint16_t loop) {
  leave_open_single(thread, NULL, 0);
  const uint64_t now = clock_now();
  const uint32_t path = construct_path_of_function(
      thread, CULPRIT_KIND_PARALLEL, CULPRIT_DETAIL_NONE, (const void*)(uintptr_t)function);
  if (path == 0) return NULL;
  struct team* const team = team_begin(thread, path, now);
  if (team == NULL) return NULL;
  team->function = function;
  team->data = data;
  if (loop != CULPRIT_DETAIL_NONE) {
    const struct construct construct = {CULPRIT_KIND_LOOP, loop, 1, (uint64_t)(uintptr_t)function,
                                        0};
    team->loop = paths_find(path, &construct);
  }
  return team;
}

/* Of GOMP_parallel_sections: the sections are begun by the team's function. */
enum { CULPRIT_DETAIL_SECTIONS = CULPRIT_DETAIL_NONE };

#define GET_unsigned(call) const unsigned result = call
#define GIVE_unsigned return result

#define PARALLEL(name, type, loop, parameters, arguments)                                    \
  EXPORT type name(void (*function)(void*), void* data, UNPACK parameters);                  \
  type name(void (*function)(void*), void* data, UNPACK parameters) {                        \
    FIND_REAL(name);                                                                         \
    if (real == NULL) return (type)(uintptr_t)nothing();                                     \
    struct team* const team =                                                                \
        thread == NULL ? NULL : prepare_team(thread, function, data, CULPRIT_DETAIL_##loop); \
    if (team == NULL) return real(function, data, UNPACK arguments);                         \
    GET_##type(real(run_member, team, UNPACK arguments));                                    \
    team_end(thread, team, clock_now());                                                     \
    GIVE_##type;                                                                             \
  }

/* Of old compilers: the primary thread runs the function by itself, up to GOMP_parallel_end. */
#define PARALLEL_START(name, loop, parameters, arguments)                                    \
  EXPORT void name(void (*function)(void*), void* data, UNPACK parameters);                  \
  void name(void (*function)(void*), void* data, UNPACK parameters) {                        \
    FIND_REAL(name);                                                                         \
    if (real == NULL) return;                                                                \
    struct team* const team =                                                                \
        thread == NULL ? NULL : prepare_team(thread, function, data, CULPRIT_DETAIL_##loop); \
    if (team == NULL) {                                                                      \
      real(function, data, UNPACK arguments);                                                \
      return;                                                                                \
    }                                                                                        \
    real(run_member, team, UNPACK arguments);                                                \
    member_begin(thread, team, 0, clock_now());                                              \
  }

#define OTHER(name, type, parameters) EXPORT type name parameters;

#include "openmp/guest/gomp_functions.def"

static struct team* innermost_team(struct thread* thread) {
  for (unsigned i = kTeams; i > 0; --i) {
    if (thread->teams[i - 1].is_used) return &thread->teams[i - 1];
  }
  return NULL;
}

void GOMP_parallel_end(void) {
  FIND_REAL(GOMP_parallel_end);
  if (real == NULL) return;
  struct team* const team = thread == NULL ? NULL : innermost_team(thread);
  if (team != NULL) member_end(thread, team, clock_now());
  real();
  if (team != NULL) team_end(thread, team, clock_now());
}

void GOMP_teams_reg(void (*function)(void*), void* data, unsigned teams, unsigned limit,
                    unsigned flags) {
  FIND_REAL(GOMP_teams_reg);
  if (real == NULL) return;
  if (thread != NULL) {
    const uint32_t path = construct_path_of_function(
        thread, CULPRIT_KIND_TEAMS, CULPRIT_DETAIL_NONE, (const void*)(uintptr_t)function);
    construct_begin(thread, path, CULPRIT_KIND_TEAMS, clock_now());
  }
  real(function, data, teams, limit, flags);
  if (thread != NULL) construct_end(thread, CULPRIT_KIND_TEAMS, clock_now(), gomp_site_of(caller));
}

/* ---- sections and single ---- */

static void count_section(struct thread* thread, unsigned section) {
  if (thread != NULL && section != 0) construct_count_piece(thread, CULPRIT_KIND_SECTIONS);
}

unsigned GOMP_sections_start(unsigned count) {
  FIND_REAL(GOMP_sections_start);
  if (real == NULL) return 0;
  if (thread != NULL) {
    begin_work(thread, CULPRIT_KIND_SECTIONS, CULPRIT_DETAIL_NONE, caller, __builtin_dwarf_cfa());
  }
  const unsigned section = real(count);
  count_section(thread, section);
  return section;
}

unsigned GOMP_sections2_start(unsigned count, uintptr_t* reductions, void** memory) {
  FIND_REAL(GOMP_sections2_start);
  if (real == NULL) return 0;
  if (thread != NULL) {
    begin_work(thread, CULPRIT_KIND_SECTIONS, CULPRIT_DETAIL_NONE, caller, __builtin_dwarf_cfa());
  }
  const unsigned section = real(count, reductions, memory);
  count_section(thread, section);
  return section;
}

unsigned GOMP_sections_next(void) {
  FIND_REAL(GOMP_sections_next);
  if (real == NULL) return 0;
  if (thread != NULL && construct_innermost(thread, CULPRIT_KIND_SECTIONS) == 0 &&
      construct_innermost(thread, CULPRIT_KIND_PARALLEL) != 0) {
    /* GOMP_parallel_sections has begun them. */
    begin_work(thread, CULPRIT_KIND_SECTIONS, CULPRIT_DETAIL_NONE, caller, __builtin_dwarf_cfa());
  }
  const unsigned section = real();
  count_section(thread, section);
  return section;
}

void GOMP_sections_end(void) {
  FIND_REAL(GOMP_sections_end);
  if (real == NULL) return;
  END_WORK(CULPRIT_KIND_SECTIONS);
  real();
  WAITED;
}

void GOMP_sections_end_nowait(void) {
  FIND_REAL(GOMP_sections_end_nowait);
  if (real == NULL) return;
  END_WORK(CULPRIT_KIND_SECTIONS);
  real();
  WAITED;
}

bool GOMP_sections_end_cancel(void) {
  FIND_REAL(GOMP_sections_end_cancel);
  if (real == NULL) return false;
  END_WORK(CULPRIT_KIND_SECTIONS);
  const bool is_cancelled = real();
  WAITED;
  return is_cancelled;
}

bool GOMP_single_start(void) {
  FIND_REAL(GOMP_single_start);
  if (real == NULL) return true;
  if (thread == NULL) return real();
  leave_open_single(thread, __builtin_dwarf_cfa(), 1);
  const uint32_t path =
      construct_path(thread, CULPRIT_KIND_SINGLE, CULPRIT_DETAIL_NONE, gomp_site_of(caller));
  const bool is_executor = real();
  begin_single(thread, path, is_executor, clock_now(), __builtin_dwarf_cfa());
  return is_executor;
}

/* With copyprivate: the others wait here for what the executor will copy. */
void* GOMP_single_copy_start(void) {
  FIND_REAL(GOMP_single_copy_start);
  if (real == NULL) return NULL;
  if (thread == NULL) return real();
  leave_open_single(thread, __builtin_dwarf_cfa(), 1);
  const uint32_t path =
      construct_path(thread, CULPRIT_KIND_SINGLE, CULPRIT_DETAIL_NONE, gomp_site_of(caller));
  const uint64_t start = clock_now();
  wait_begin(thread, path, CULPRIT_PART_EXIT_BARRIER, start);
  void* const copied = real();
  const uint64_t now = clock_now();
  if (copied != NULL) {
    wait_end(thread, now);
    ++thread_counter(thread, path)->executions;
  } else {
    wait_end(thread, start);
    begin_single(thread, path, 1, now, __builtin_dwarf_cfa());
  }
  return copied;
}

void GOMP_single_copy_end(void* data) {
  FIND_REAL(GOMP_single_copy_end);
  if (real == NULL) return;
  END_WORK(CULPRIT_KIND_SINGLE);
  real(data);
  WAITED;
}

/* ---- one at a time ---- */

static void begin_exclusive(struct thread* thread, uint32_t path, uint16_t kind, uint64_t start) {
  const uint64_t now = clock_now();
  construct_add(thread, path, CULPRIT_PART_ENTER, start, now);
  construct_begin(thread, path, kind, now);
}

#define ENTER(kind, detail)                                                            \
  if (thread != NULL) leave_open_single(thread, NULL, 0);                              \
  const uint64_t start = thread == NULL ? 0 : clock_now();                             \
  const uint32_t path =                                                                \
      thread == NULL ? 0 : construct_path(thread, kind, detail, gomp_site_of(caller)); \
  if (thread != NULL) construct_ask(thread, path, start)

#define ENTERED(kind) \
  if (thread != NULL) begin_exclusive(thread, path, kind, start)

#define LEAVE(kind)                                      \
  const uint64_t end = thread == NULL ? 0 : clock_now(); \
  const uint32_t path = thread == NULL ? 0 : construct_end(thread, kind, end, gomp_site_of(caller))

#define LEFT \
  if (path != 0) construct_add(thread, path, CULPRIT_PART_EXIT, end, clock_now())

void GOMP_critical_start(void) {
  FIND_REAL(GOMP_critical_start);
  if (real == NULL) return;
  ENTER(CULPRIT_KIND_CRITICAL, CULPRIT_DETAIL_NONE);
  real();
  ENTERED(CULPRIT_KIND_CRITICAL);
}

void GOMP_critical_end(void) {
  FIND_REAL(GOMP_critical_end);
  if (real == NULL) return;
  LEAVE(CULPRIT_KIND_CRITICAL);
  real();
  LEFT;
}

void GOMP_critical_name_start(void** lock) {
  FIND_REAL(GOMP_critical_name_start);
  if (real == NULL) return;
  ENTER(CULPRIT_KIND_CRITICAL, CULPRIT_DETAIL_NAMED);
  real(lock);
  ENTERED(CULPRIT_KIND_CRITICAL);
}

void GOMP_critical_name_end(void** lock) {
  FIND_REAL(GOMP_critical_name_end);
  if (real == NULL) return;
  LEAVE(CULPRIT_KIND_CRITICAL);
  real(lock);
  LEFT;
}

void GOMP_atomic_start(void) {
  FIND_REAL(GOMP_atomic_start);
  if (real == NULL) return;
  ENTER(CULPRIT_KIND_ATOMIC, CULPRIT_DETAIL_NONE);
  real();
  ENTERED(CULPRIT_KIND_ATOMIC);
}

void GOMP_atomic_end(void) {
  FIND_REAL(GOMP_atomic_end);
  if (real == NULL) return;
  LEAVE(CULPRIT_KIND_ATOMIC);
  real();
  LEFT;
}

void GOMP_ordered_start(void) {
  FIND_REAL(GOMP_ordered_start);
  if (real == NULL) return;
  ENTER(CULPRIT_KIND_ORDERED, CULPRIT_DETAIL_NONE);
  real();
  ENTERED(CULPRIT_KIND_ORDERED);
}

void GOMP_ordered_end(void) {
  FIND_REAL(GOMP_ordered_end);
  if (real == NULL) return;
  LEAVE(CULPRIT_KIND_ORDERED);
  real();
  LEFT;
}

/* ---- waiting ---- */

static uint32_t begin_barrier(struct thread* thread, const void* caller,
                              const void* frame_of_caller) {
  const uint64_t now = clock_now();
  const int is_jump = gomp_site_of(caller) == 0; /* from the body of the region */
  const uint32_t single = end_single(thread, now, is_jump ? NULL : frame_of_caller);
  if (single != 0) {
    wait_begin(thread, single, CULPRIT_PART_EXIT_BARRIER, now);
    return single;
  }
  leave_open_single(thread, frame_of_caller, 1);
  const uint32_t path =
      construct_path(thread, CULPRIT_KIND_BARRIER, CULPRIT_DETAIL_NONE, gomp_site_of(caller));
  wait_begin(thread, path, CULPRIT_PART_WAIT, now);
  return path;
}

void GOMP_barrier(void) {
  FIND_REAL(GOMP_barrier);
  if (real == NULL) return;
  const uint32_t path = thread == NULL ? 0 : begin_barrier(thread, caller, __builtin_dwarf_cfa());
  real();
  WAITED;
}

bool GOMP_barrier_cancel(void) {
  FIND_REAL(GOMP_barrier_cancel);
  if (real == NULL) return false;
  const uint32_t path = thread == NULL ? 0 : begin_barrier(thread, caller, __builtin_dwarf_cfa());
  const bool is_cancelled = real();
  WAITED;
  return is_cancelled;
}

static uint32_t begin_waiting(struct thread* thread, uint16_t kind, const void* caller) {
  if (thread == NULL) return 0;
  leave_open_single(thread, NULL, 0);
  const uint64_t now = clock_now();
  const uint32_t path = construct_path(thread, kind, CULPRIT_DETAIL_NONE, gomp_site_of(caller));
  wait_begin(thread, path, CULPRIT_PART_WAIT, now);
  return path;
}

void GOMP_taskwait(void) {
  FIND_REAL(GOMP_taskwait);
  if (real == NULL) return;
  const uint32_t path = begin_waiting(thread, CULPRIT_KIND_TASKWAIT, caller);
  real();
  WAITED;
}

void GOMP_taskwait_depend(void** depend) {
  FIND_REAL(GOMP_taskwait_depend);
  if (real == NULL) return;
  const uint32_t path = begin_waiting(thread, CULPRIT_KIND_TASKWAIT, caller);
  real(depend);
  WAITED;
}

/* Its beginning asks nothing of anybody: what is measured is the wait at its end. */
void GOMP_taskgroup_start(void) {
  FIND_REAL(GOMP_taskgroup_start);
  (void)thread;
  if (real != NULL) real();
}

void GOMP_taskgroup_end(void) {
  FIND_REAL(GOMP_taskgroup_end);
  if (real == NULL) return;
  const uint32_t path = begin_waiting(thread, CULPRIT_KIND_TASKGROUP, caller);
  real();
  WAITED;
}
