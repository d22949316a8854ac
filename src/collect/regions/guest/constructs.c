/* See constructs.h. */
#define _GNU_SOURCE
#include "constructs.h"

#include <stddef.h>

uint32_t construct_path(struct thread* thread, uint16_t kind, uint16_t detail, uint64_t site) {
  struct construct construct = {kind, detail, 0, site, 0};
  const uint32_t around = thread_path(thread);
  if (site == 0 && around != 0) construct.site = paths_file()->paths[around].site;
  return paths_find(around, &construct);
}

uint32_t construct_path_of_function(struct thread* thread, uint16_t kind, uint16_t detail,
                                    const void* function) {
  const struct construct construct = {kind, detail, 1, (uint64_t)(uintptr_t)function, 0};
  return paths_find(thread_path(thread), &construct);
}

static void push(struct thread* thread, const struct culprit_region_frame* frame) {
  thread->last_work = 0;
  thread->shared->asked.path = 0;
  if (thread->depth == CULPRIT_DEEPEST) {
    ++thread->too_deep;
    ++thread->shared->too_deep;
    thread_tell_place(thread, frame->begin);
    return;
  }
  thread->shared->frames[thread->depth++] = *frame;
  if (!frame->is_wait) ++thread->open[frame->path];
  thread->shared->open = thread->depth;
  thread_tell_place(thread, frame->begin);
}

/* The innermost frame is over; what ran inside it is told to the one around it. */
static void pop(struct thread* thread, uint64_t now) {
  const struct culprit_region_frame* top = &thread->shared->frames[--thread->depth];
  if (!top->is_wait) --thread->open[top->path];
  if (thread->depth > 0 && top->kind != CULPRIT_KIND_TASK) {
    thread->shared->frames[thread->depth - 1].tasks += top->tasks;
  }
  thread->shared->open = thread->depth;
  thread_tell_place(thread, now);
}

/* The end of one that was too deep to be followed. */
static void leave_too_deep(struct thread* thread, uint64_t now) {
  --thread->too_deep;
  thread_tell_place(thread, now);
}

void construct_begin(struct thread* thread, uint32_t path, uint16_t kind, uint64_t now) {
  const struct culprit_region_frame frame = {path, kind, 0, CULPRIT_PART_BODY, now, 0, NULL};
  push(thread, &frame);
}

/* The depth below the innermost frame of `kind`; UINT32_MAX if there is none. Teams and tasks are
 * walls: what began outside cannot end inside. */
static uint32_t find_frame(const struct thread* thread, uint16_t kind) {
  for (uint32_t at = thread->depth; at > 0; --at) {
    const struct culprit_region_frame* frame = &thread->shared->frames[at - 1];
    if (frame->kind == kind && !frame->is_wait) return at - 1;
    if (frame->kind == CULPRIT_KIND_PARALLEL || frame->kind == CULPRIT_KIND_TASK) break;
  }
  return UINT32_MAX;
}

static void drop_above(struct thread* thread, uint32_t depth, uint64_t now) {
  while (thread->depth > depth) {
    ++thread->shared->dropped;
    pop(thread, now);
  }
}

/* Ends the construct whose frame is at that depth. */
static uint32_t end_frame(struct thread* thread, uint32_t at, uint64_t now, uint64_t address) {
  drop_above(thread, at + 1, now);
  const struct culprit_region_frame* frame = &thread->shared->frames[at];
  struct culprit_region_counter* counter = thread_counter(thread, frame->path);
  ++counter->executions;
  const uint32_t path = frame->path;
  /* Of a construct inside itself the outer one has the time. */
  if (thread->open[path] == 1) {
    counter->ticks[CULPRIT_PART_BODY] += thread_ticks(thread, frame->begin, now);
  }
  pop(thread, now);
  paths_set_end(path, address);
  return path;
}

uint32_t construct_end(struct thread* thread, uint16_t kind, uint64_t now, uint64_t address) {
  if (thread->too_deep > 0) {
    leave_too_deep(thread, now);
    return 0;
  }
  const uint32_t at = find_frame(thread, kind);
  if (at == UINT32_MAX) {
    ++thread->shared->unmatched;
    return 0;
  }
  return end_frame(thread, at, now, address);
}

void construct_ask(struct thread* thread, uint32_t path, uint64_t now) {
  const struct culprit_region_wait asked = {now, 0, path, 0};
  thread->shared->asked = asked;
  thread_tell(thread, now, path, path == 0 ? CULPRIT_STATE_UNKNOWN : CULPRIT_STATE_WAITING);
}

void construct_add(struct thread* thread, uint32_t path, unsigned part, uint64_t from,
                   uint64_t to) {
  thread_counter(thread, path)->ticks[part] += thread_ticks(thread, from, to);
}

uint32_t construct_innermost(const struct thread* thread, uint16_t kind) {
  if (thread->depth == 0) return 0;
  const struct culprit_region_frame* top = &thread->shared->frames[thread->depth - 1];
  return top->kind == kind && !top->is_wait ? top->path : 0;
}

void construct_count_piece(struct thread* thread, uint16_t kind) {
  const uint32_t path = construct_innermost(thread, kind);
  if (path != 0) ++thread_counter(thread, path)->pieces;
}

/* ---- regions that the program marks ---- */

void region_begin(struct thread* thread, uint32_t name, uint64_t site) {
  const struct construct construct = {CULPRIT_KIND_USER, CULPRIT_DETAIL_NONE, 0, site, name};
  const uint32_t path = paths_find(thread_path(thread), &construct);
  construct_begin(thread, path, CULPRIT_KIND_USER, clock_now());
}

int region_end(struct thread* thread, uint32_t name, uint64_t site) {
  const uint64_t now = clock_now();
  if (name == 0) return construct_end(thread, CULPRIT_KIND_USER, now, site) != 0;
  for (uint32_t at = thread->depth; at > 0; --at) {
    const struct culprit_region_frame* frame = &thread->shared->frames[at - 1];
    if (frame->kind == CULPRIT_KIND_PARALLEL || frame->kind == CULPRIT_KIND_TASK) break;
    if (frame->kind != CULPRIT_KIND_USER || paths_file()->paths[frame->path].name != name) continue;
    drop_above(thread, at, now);
    return construct_end(thread, CULPRIT_KIND_USER, now, site) != 0;
  }
  ++thread->shared->unmatched;
  return 0;
}

/* ---- functions with wrappers ---- */

static uint64_t frame_of_wrapper(const struct culprit_region_frame* frame) {
  return frame->kind == CULPRIT_KIND_FUNCTION ? (uint64_t)(uintptr_t)frame->task : 0;
}

int function_can_begin(struct thread* thread, uint64_t frame, uint64_t near) {
  while (thread->depth > 0) {
    const uint64_t top = frame_of_wrapper(&thread->shared->frames[thread->depth - 1]);
    if (top == 0 || top > frame || frame - top > near) break;
    ++thread->shared->dropped;
    pop(thread, clock_now());
  }
  if (thread->depth < CULPRIT_DEEPEST && thread->too_deep == 0) return 1;
  ++thread->shared->too_deep;
  return 0;
}

void function_begin(struct thread* thread, uint32_t path, uint64_t frame, uint64_t now) {
  const struct culprit_region_frame begun = {
      path, CULPRIT_KIND_FUNCTION, 0, CULPRIT_PART_BODY, now, 0, (const void*)(uintptr_t)frame};
  push(thread, &begun);
}

void function_end(struct thread* thread, uint64_t frame, uint64_t now) {
  for (uint32_t at = thread->depth; at > 0; --at) {
    if (frame_of_wrapper(&thread->shared->frames[at - 1]) != frame) continue;
    end_frame(thread, at - 1, now, 0);
    return;
  }
  ++thread->shared->unmatched;
}

/* ---- waiting ---- */

void wait_begin(struct thread* thread, uint32_t path, unsigned part, uint64_t now) {
  const struct culprit_region_frame frame = {path, CULPRIT_KIND_NONE, 1, (uint8_t)part, now, 0,
                                             NULL};
  push(thread, &frame);
}

void wait_end(struct thread* thread, uint64_t now) {
  if (thread->too_deep > 0) {
    leave_too_deep(thread, now);
    return;
  }
  while (thread->depth > 0 && !thread->shared->frames[thread->depth - 1].is_wait) {
    ++thread->shared->dropped;
    pop(thread, now);
  }
  if (thread->depth == 0) return;
  const struct culprit_region_frame* frame = &thread->shared->frames[thread->depth - 1];
  const uint64_t ticks = thread_ticks(thread, frame->begin, now);
  struct culprit_region_counter* counter = thread_counter(thread, frame->path);
  counter->ticks[frame->part] += ticks > frame->tasks ? ticks - frame->tasks : 0;
  if (frame->part == CULPRIT_PART_WAIT) ++counter->executions;
  if (thread->depth > 1) {
    const struct culprit_region_frame* around = frame - 1;
    if (around->kind != CULPRIT_KIND_TASK) {
      thread_counter(thread, around->path)->inner_tasks += frame->tasks;
    }
    /* Recursion: a task created elsewhere than in its parent. That time stays the creator's. */
    const int is_creation = frame->part == CULPRIT_PART_ENTER;
    if (is_creation && paths_file()->paths[frame->path].parent != around->path) {
      counter->inner_tasks += ticks > frame->tasks ? ticks - frame->tasks : 0;
    }
  }
  pop(thread, now);
}

/* ---- tasks ---- */

void task_begin(struct thread* thread, uint32_t path, const void* task, uint64_t now) {
  const struct culprit_region_frame frame = {path, CULPRIT_KIND_TASK, 0, CULPRIT_PART_BODY, now, 0,
                                             task};
  push(thread, &frame);
}

void task_end(struct thread* thread, uint64_t now, int is_over) {
  if (thread->too_deep > 0) {
    leave_too_deep(thread, now);
    return;
  }
  uint32_t at = thread->depth;
  while (at > 0 && thread->shared->frames[at - 1].kind != CULPRIT_KIND_TASK) --at;
  if (at == 0) {
    ++thread->shared->unmatched;
    return;
  }
  drop_above(thread, at, now);
  const struct culprit_region_frame* frame = &thread->shared->frames[at - 1];
  struct culprit_region_counter* counter = thread_counter(thread, frame->path);
  const uint64_t ticks = thread_ticks(thread, frame->begin, now);
  counter->executions += is_over ? 1 : 0;
  counter->ticks[CULPRIT_PART_BODY] += ticks > frame->tasks ? ticks - frame->tasks : 0;
  pop(thread, now);
  if (thread->depth > 0) thread->shared->frames[thread->depth - 1].tasks += ticks;
  /* A task inside of another one at the barrier is in that one's time. */
  if (thread->in_barrier != NULL && thread->depth <= thread->barrier_depth) {
    thread->last_end = now;
    thread->shared->barrier.tasks += ticks;
  }
}

int task_is_below(const struct thread* thread, const void* task) {
  for (uint32_t at = thread->depth; at > 0; --at) {
    if (thread->shared->frames[at - 1].kind == CULPRIT_KIND_TASK &&
        thread->shared->frames[at - 1].task == task) {
      return 1;
    }
  }
  return 0;
}

/* ---- locks: held, but not nested in each other ---- */

static struct culprit_region_lock* find_lock(struct thread* thread, uint64_t lock) {
  for (uint32_t i = thread->shared->held; i > 0; --i) {
    if (thread->shared->locks[i - 1].lock == lock) return &thread->shared->locks[i - 1];
  }
  return NULL;
}

void lock_acquired(struct thread* thread, uint64_t lock, uint32_t path, uint64_t from,
                   uint64_t to) {
  struct culprit_region_lock* held = find_lock(thread, lock);
  thread->shared->asked.path = 0;
  thread_tell_place(thread, to);
  if (held != NULL) { /* a nestable one */
    ++held->depth;
    return;
  }
  construct_add(thread, path, CULPRIT_PART_ENTER, from, to);
  if (thread->shared->held == CULPRIT_HELD_LOCKS) {
    ++thread->shared->too_deep;
    return;
  }
  held = &thread->shared->locks[thread->shared->held++];
  held->lock = lock;
  held->path = path;
  held->depth = 1;
  held->since = to;
}

uint32_t lock_released(struct thread* thread, uint64_t lock, uint64_t now) {
  struct culprit_region_lock* held = find_lock(thread, lock);
  if (held == NULL) {
    ++thread->shared->unmatched; /* taken by another thread, or before us */
    return 0;
  }
  if (--held->depth > 0) return 0;
  const uint32_t path = held->path;
  struct culprit_region_counter* counter = thread_counter(thread, path);
  ++counter->executions;
  counter->ticks[CULPRIT_PART_BODY] += thread_ticks(thread, held->since, now);
  *held = thread->shared->locks[--thread->shared->held];
  return path;
}

/* ---- teams ---- */

struct team* team_begin(struct thread* primary, uint32_t path, uint64_t now) {
  for (unsigned i = 0; i < kTeams; ++i) {
    struct team* team = &primary->teams[i];
    if (team->is_used) continue;
    team->is_used = 1;
    team->path = path;
    team->begin = now;
    team->ended = NULL;
    team->loop = 0;
    team->outer_number = primary->team_number;
    team->outer_size = primary->team_size;
    /* A task at the barrier of another team may begin this one. */
    team->outer.in_barrier = primary->in_barrier;
    team->outer.barrier_depth = primary->barrier_depth;
    team->outer.barrier = primary->shared->barrier;
    team->outer.last_end = primary->last_end;
    team->outer.ended_in_single = primary->ended_in_single;
    team->outer.next_ended = primary->next_ended;
    return team;
  }
  ++primary->shared->too_deep;
  return NULL;
}

void member_begin(struct thread* thread, struct team* team, unsigned number, uint64_t now) {
  thread->team_number = number;
  if (thread->shared->number == 0) thread->shared->number = number + 1;
  if (number != 0) { /* what it was in before is over */
    while (thread->depth > 0) pop(thread, now);
    thread->too_deep = 0;
  }
  construct_add(thread, team->path, CULPRIT_PART_ENTER, team->begin, now);
  construct_begin(thread, team->path, CULPRIT_KIND_PARALLEL, now);
  if (team->loop != 0) construct_begin(thread, team->loop, CULPRIT_KIND_LOOP, now);
}

void member_end(struct thread* thread, struct team* team, uint64_t now) {
  if (thread->in_barrier == team) return;
  if (construct_innermost(thread, CULPRIT_KIND_LOOP) == team->loop && team->loop != 0) {
    construct_end(thread, CULPRIT_KIND_LOOP, now, 0);
  }
  thread->ended_in_single = construct_innermost(thread, CULPRIT_KIND_SINGLE) != 0;
  /* Of libgomp: a single with no barrier after it, which GCC leaves out where the region ends. */
  if (thread->ended_in_single) {
    struct culprit_region_frame* single = &thread->shared->frames[thread->depth - 1];
    if (single->part != CULPRIT_PART_BODY) single->begin = now;
    paths_set_flag(CULPRIT_SAW_SINGLE_OPEN);
    construct_end(thread, CULPRIT_KIND_SINGLE, now, 0);
  }
  if (construct_end(thread, CULPRIT_KIND_PARALLEL, now, 0) == 0) return;
  const struct culprit_region_wait barrier = {now, 0, team->path, 0};
  thread->shared->barrier = barrier;
  thread->last_end = now;
  thread->barrier_depth = thread->depth;
  __atomic_store_n(&thread->in_barrier, team, __ATOMIC_RELEASE);
  thread_tell_place(thread, now);
  struct thread* next = __atomic_load_n(&team->ended, __ATOMIC_RELAXED);
  do {
    thread->next_ended = next;
  } while (!__atomic_compare_exchange_n(&team->ended, &next, thread, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
}

/* The team's barrier is behind all members, but only the primary thread comes back from it: the
 * others wait for the next team. So it divides their time, too: up to the end of the last one
 * they waited for it, from there on for the runtime. Tasks that a member ran there are work of the
 * region, as those are that run while its body waits. */
void team_end(struct thread* primary, struct team* team, uint64_t now) {
  struct thread* const ended = __atomic_load_n(&team->ended, __ATOMIC_ACQUIRE);
  uint64_t last = 0;
  uint64_t last_body = 0;
  for (const struct thread* member = ended; member != NULL; member = member->next_ended) {
    if (member->last_end > last) last = member->last_end;
    if (member->shared->barrier.begin > last_body) last_body = member->shared->barrier.begin;
  }
  for (struct thread* member = ended; member != NULL;) {
    struct thread* const next = member->next_ended;
    struct culprit_region_counter* counter = thread_counter(member, team->path);
    struct culprit_region_wait* barrier = &member->shared->barrier;
    const uint64_t waited = thread_ticks(primary, barrier->begin, last);
    const uint64_t idle = waited > barrier->tasks ? waited - barrier->tasks : 0;
    counter->ticks[CULPRIT_PART_EXIT_BARRIER] += idle;
    counter->ticks[CULPRIT_PART_BODY] += barrier->tasks;
    counter->inner_tasks += barrier->tasks;
    if (member->ended_in_single) {
      /* Once the single is over, members wait for tasks. */
      const uint64_t single = thread_ticks(primary, barrier->begin, last_body);
      counter->behind_single += idle < single ? idle : single;
    }
    counter->ticks[CULPRIT_PART_EXIT] += thread_ticks(primary, last, now);
    barrier->path = 0;
    /* It runs nothing of the program before the primary thread begins another team. */
    if (member != primary) thread_log(member, now, 0, CULPRIT_STATE_INSIDE);
    __atomic_store_n(&member->in_barrier, NULL, __ATOMIC_RELEASE);
    member = next;
  }
  primary->team_number = team->outer_number;
  primary->team_size = team->outer_size;
  if (team->outer.in_barrier != NULL) {
    primary->barrier_depth = team->outer.barrier_depth;
    primary->shared->barrier = team->outer.barrier;
    primary->last_end = team->outer.last_end;
    primary->ended_in_single = team->outer.ended_in_single;
    primary->next_ended = team->outer.next_ended;
    __atomic_store_n(&primary->in_barrier, team->outer.in_barrier, __ATOMIC_RELEASE);
  }
  team->is_used = 0;
  thread_tell_place(primary, now);
}
