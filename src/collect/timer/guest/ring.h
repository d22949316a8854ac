/* The ring file of one thread: the thread writes, culprit reads (protocol.h). */
#ifndef CULPRIT_GUEST_RING_H
#define CULPRIT_GUEST_RING_H

#include <stddef.h>

#include "protocol.h"

/* Makes the ring of the calling thread in `folder`, its blocks allocated so that
 * a full file system is an error here and not a SIGBUS later. NULL if that
 * fails. */
struct culprit_ring* ring_make(const char* folder, uint32_t origin, int with_stacks);

/* Says that nothing more will come, and unmaps it. */
void ring_close(struct culprit_ring* ring);

/* Unmaps the ring of a thread that is not there any more (after fork). */
void ring_forget(struct culprit_ring* ring);

/* A piece of a record. */
struct ring_piece {
  const void* bytes;
  size_t size; /* the pieces of one record add up to a multiple of 8 */
};

/* Appends one record made of pieces; 0 if there is no room for it. Safe in a
 * signal handler, as long as only one caller of this thread is in it at a time. */
int ring_write(struct culprit_ring* ring, const struct ring_piece* pieces, size_t count);

#endif
