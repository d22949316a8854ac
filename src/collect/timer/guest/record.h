/* Writing the records of protocol.h other than samples: a body, perhaps a name,
 * and the { pid, tid, time } that sample_id_all puts at the end. */
#ifndef CULPRIT_GUEST_RECORD_H
#define CULPRIT_GUEST_RECORD_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "ring.h"

/* `header` begins a body of `body_bytes` (a multiple of 8); its size field is
 * filled in. `name` may be NULL; a long one is cut. 0: no room, counted as lost. */
int record_write_named(struct culprit_ring* ring, struct perf_event_header* header,
                       size_t body_bytes, const char* name, uint64_t time_ns);

/* The thread's name; `is_exec` says that a new program begins. */
void record_write_comm(struct culprit_ring* ring, const char* name, int is_exec, uint64_t time_ns);

/* The ring's thread begins (PERF_RECORD_FORK) or ends (PERF_RECORD_EXIT). */
void record_write_task(struct culprit_ring* ring, uint32_t type, uint32_t parent_pid,
                       uint32_t parent_tid, uint64_t time_ns);

#endif
