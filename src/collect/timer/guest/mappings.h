/* The executable mappings of this process, as PERF_RECORD_MMAP2 records.
 *
 * A table remembers what was reported. /proc/self/maps is read at the start and
 * again when a sample hits an address that is in no known range: a library
 * loaded since, or code made at run time. dlopen() is left alone for that (it
 * behaves differently by caller); dlclose() makes the table void, because other
 * code may come to the same place. */
#ifndef CULPRIT_GUEST_MAPPINGS_H
#define CULPRIT_GUEST_MAPPINGS_H

#include <stdint.h>

#include "protocol.h"

/* Whether `address` is in a mapping that was reported. Any thread, any time. */
int mappings_know(uint64_t address);

/* Reads /proc/self/maps and reports what is new to `ring`, stamped `time_ns`.
 * Safe in a signal handler; does nothing if another thread is at it, or was
 * within the last 10 ms. */
void mappings_scan(struct culprit_ring* ring, uint64_t time_ns);

/* What was reported may not be there any more: the next sample looks again. */
void mappings_invalidate(void);

/* Forgets a scan that was under way in another thread (after fork). */
void mappings_after_fork(void);

/* End of the main thread's stack, as the last scan found it; 0 = not seen. */
uint64_t mappings_main_stack_end(void);

#endif
