/* What happens to a thread at the edges of constructs, whoever saw it: the wrappers of libgomp
 * (gomp_*.c), the tool interface of other runtimes (ompt.c), marks.
 *
 *      enter          body             exit barrier     exit
 *   |---------|---------------------|----------------|--------|
 *   t0        t1                    t2               t3
 *
 * `begin` at t1 and `end` at t2 bound the body; the parts around it are added by `add`, or by
 * wait_begin and wait_end where other tasks may run on the thread meanwhile. */
#ifndef CULPRIT_REGIONS_CONSTRUCTS_H
#define CULPRIT_REGIONS_CONSTRUCTS_H

#include "threads.h"

/* The path of a construct where the thread is. */
uint32_t construct_path(struct thread* thread, uint16_t kind, uint16_t detail, uint64_t site);
/* Likewise, named by the function that is its body. */
uint32_t construct_path_of_function(struct thread* thread, uint16_t kind, uint16_t detail,
                                    const void* function);

void construct_begin(struct thread* thread, uint32_t path, uint16_t kind, uint64_t now);
/* Ends the innermost construct of `kind`, and what was left open in it; its path, 0 if there is
 * none. `address`: where it ended, 0 if unknown. */
uint32_t construct_end(struct thread* thread, uint16_t kind, uint64_t now, uint64_t address);
/* The thread waits to be let in; construct_begin() or lock_acquired() follows. */
void construct_ask(struct thread* thread, uint32_t path, uint64_t now);
void construct_add(struct thread* thread, uint32_t path, unsigned part, uint64_t from, uint64_t to);
/* A piece of the innermost construct of the thread was taken: a chunk, a section. */
void construct_count_piece(struct thread* thread, uint16_t kind);
/* The innermost construct, if it is of `kind`; 0: it is not. */
uint32_t construct_innermost(const struct thread* thread, uint16_t kind);

/* Regions that the program marks, by name (paths_find_name()); 0 ends the innermost. */
void region_begin(struct thread* thread, uint32_t name, uint64_t site);
int region_end(struct thread* thread, uint32_t name, uint64_t site);

/* Calls of functions, known by the stack frames of their wrappers. Whether one can begin: calls
 * whose frames are gone (longjmp), up to `near` bytes below its own, are over. */
int function_can_begin(struct thread* thread, uint64_t frame, uint64_t near);
void function_begin(struct thread* thread, uint32_t path, uint64_t frame, uint64_t now);
void function_end(struct thread* thread, uint64_t frame, uint64_t now);

/* Waiting, at the end of construct `path` or in one that only waits (CULPRIT_PART_WAIT). */
void wait_begin(struct thread* thread, uint32_t path, unsigned part, uint64_t now);
void wait_end(struct thread* thread, uint64_t now);

void task_begin(struct thread* thread, uint32_t path, const void* task, uint64_t now);
/* `is_over`: it will not be resumed. */
void task_end(struct thread* thread, uint64_t now, int is_over);
/* Whether `task` is one that the thread has begun and left for another. */
int task_is_below(const struct thread* thread, const void* task);

void lock_acquired(struct thread* thread, uint64_t lock, uint32_t path, uint64_t from, uint64_t to);
/* Its path, if it was the last release of it; 0 else. */
uint32_t lock_released(struct thread* thread, uint64_t lock, uint64_t now);

/* A team. The primary thread begins and ends it; each member, primary included, comes and goes. */
struct team* team_begin(struct thread* primary, uint32_t path, uint64_t now);
void member_begin(struct thread* thread, struct team* team, unsigned number, uint64_t now);
void member_end(struct thread* thread, struct team* team, uint64_t now);
void team_end(struct thread* primary, struct team* team, uint64_t now);

#endif
