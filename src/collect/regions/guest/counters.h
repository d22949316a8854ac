/* Events that each thread counts in its regions, by perf_event_open: what the kernel gives it, from
 * page faults to the hardware's counters. They are read at each change of region, and what they
 * grew by belongs to where the thread was before. */
#ifndef CULPRIT_REGIONS_COUNTERS_H
#define CULPRIT_REGIONS_COUNTERS_H

#include "threads.h"

/* Reads which events the host asks for. */
void counters_prepare(void);
int counters_are_wanted(void);

/* By the thread itself. What it counts from now on belongs to where it is. */
void counters_start(struct thread* thread);
void counters_stop(struct thread* thread);
/* In a child: first this, then, by its thread if that was counting, what its parent's had is left.
 */
void counters_begin_child(void);
void counters_after_fork(struct thread* thread);

#endif
