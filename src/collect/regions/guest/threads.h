/* What each thread of the program has: its file of counters and the constructs it is in. */
#ifndef CULPRIT_REGIONS_THREADS_H
#define CULPRIT_REGIONS_THREADS_H

#include <stdint.h>

#include "clock.h"
#include "paths.h"

enum { kTeams = 32 };

/* A thread at the barrier that ends a parallel region: as in struct thread. */
struct at_barrier {
  struct team* in_barrier;
  struct thread* next_ended;
  struct culprit_region_wait barrier;
  uint64_t last_end;
  uint32_t ended_in_single;
  uint32_t barrier_depth;
};

/* A team of threads, from before its start to after its end. */
struct team {
  uint32_t path;
  uint32_t is_used;
  uint64_t begin;
  struct thread* ended; /* its threads whose bodies have ended, linked by `next_ended` */
  void (*function)(void*);
  void* data;
  uint32_t loop;         /* path of a loop that the team begins with; 0: none */
  uint32_t outer_number; /* `team_number` and `team_size` of its primary thread before */
  uint32_t outer_size;
  struct at_barrier outer; /* its primary thread before, whose task began it */
};

/* How a thread counts events, and where it is meanwhile (counters.c). */
struct counting {
  uint32_t path; /* where it is */
  uint32_t is_waiting;
  uint64_t values[CULPRIT_MAX_COUNTERS]; /* when it came there */
  void* rings[CULPRIT_MAX_COUNTERS];     /* of events that a ring counts; NULL: they are read */
  void* switches;                        /* likewise of switches; NULL: the group is always read */
  uint64_t seen_switches;                /* when it was read last */
  uint64_t read_ns;
  uint64_t since_ns; /* until now, if it holds clocks alone */
  uint32_t in_group;
  int fds[CULPRIT_MAX_COUNTERS];
  uint64_t id; /* of the first */
  uint64_t group[CULPRIT_MAX_COUNTERS];
};

struct thread {
  struct culprit_region_thread* shared;
  struct culprit_region_log* log;       /* NULL: there was no room */
  struct culprit_region_counts* counts; /* NULL: nothing is counted */
  uint32_t is_counting;
  struct counting counting;
  uint32_t tid;
  uint32_t depth;
  uint32_t too_deep;    /* constructs above the last frame that is kept */
  uint32_t last_work;   /* path of the work-sharing construct that has just ended */
  uint32_t is_free;     /* its thread has ended */
  uint32_t team_number; /* in the innermost team that it is in, or was in last */
  uint32_t team_size;   /* of that team, where the runtime tells it; 0: it does not */
  uint64_t waited_for;  /* path that a lock or critical section is waited for, its beginning: */
  uint64_t waiting_since;
  /* At the end of a parallel region, until the team's primary thread has seen it. */
  uint64_t last_end;        /* of the body, or of the last task at the barrier */
  uint32_t ended_in_single; /* the body's last construct was a single without a barrier */
  struct thread* next_ended;
  struct team* in_barrier; /* of this team; `shared->barrier` has its times */
  uint32_t barrier_depth;  /* there; above it are tasks that run meanwhile */
  struct team teams[kTeams];
  uint16_t open[CULPRIT_MAX_PATHS]; /* frames of each path, without waits */
};

/* The calling thread's; NULL if nothing is to be measured, or there is no room. */
struct thread* thread_self(void);
void threads_prepare(void);
void threads_after_fork(void);

static inline uint32_t thread_path(const struct thread* thread) {
  return thread->depth == 0 ? 0 : thread->shared->frames[thread->depth - 1].path;
}

static inline struct culprit_region_counter* thread_counter(struct thread* thread, uint32_t path) {
  return &thread->shared->counters[path];
}

/* What was counted belongs to where the thread was; from now on to where it is. (counters.c) */
void thread_count(struct thread* thread, uint32_t path, uint16_t state);

/* Tells who samples the thread where it is from `now` on. By another thread: it goes on counting
 * for where it was. */
static inline void thread_log(struct thread* thread, uint64_t now, uint32_t path, uint16_t state) {
  struct culprit_region_log* log = thread->log;
  if (log == NULL) return;
  const uint64_t count = log->count;
  struct culprit_region_change* change = &log->changes[count & (CULPRIT_LOG_CHANGES - 1)];
  change->ticks = now;
  change->tid = thread->tid;
  change->path = (uint16_t)path;
  change->state = state;
  __atomic_store_n(&log->count, count + 1, __ATOMIC_RELEASE);
}

/* The same, by the thread itself. */
static inline void thread_tell(struct thread* thread, uint64_t now, uint32_t path, uint16_t state) {
  if (thread->is_counting) thread_count(thread, path, state);
  thread_log(thread, now, path, state);
}

/* Likewise by what it is in. */
void thread_tell_place(struct thread* thread, uint64_t now);

/* Ticks from one time to a later one of the same thread. */
static inline uint64_t thread_ticks(struct thread* thread, uint64_t from, uint64_t to) {
  if (to >= from) return to - from;
  ++thread->shared->backwards;
  return 0;
}

#endif
