/* What libculprit_timer.so (inside the profiled program) and posix_timer.cc
 * (in culprit) agree on. Plain C11; both sides include it and nothing else of
 * each other.
 *
 * The host makes a folder and names it in the environment. Every thread of the
 * profiled program makes one ring file there, <pid>.<tid>.<n>.ring:
 *
 *   0                CULPRIT_RING_DATA_OFFSET                     end of file
 *   | struct culprit_ring | records, in perf's format, wrapping around |
 *
 * One thread writes (head), one host reads (tail); both only grow, and position
 * p is byte p % data_bytes of the records. A record counts once head has passed
 * it, so a program that is killed leaves whole records only. A full ring drops
 * the record and counts it: the program never waits.
 *
 * Records are those of perf_event_open(2), as if made by an event with
 *
 *   sample_type  IP | TID | TIME | PERIOD   (| CALLCHAIN if stacks were asked for)
 *   sample_id_all, so that all other records end with { pid, tid, time }
 *   clockid      CLOCK_MONOTONIC
 *
 * The host trusts none of it: the program may write there whatever it likes.
 */
#ifndef CULPRIT_GUEST_PROTOCOL_H
#define CULPRIT_GUEST_PROTOCOL_H

#include <stdint.h>

/* The environment of the profiled program. */
#define CULPRIT_ENV_FOLDER "CULPRIT_TIMER_FOLDER"
#define CULPRIT_ENV_PERIOD "CULPRIT_TIMER_PERIOD_NS"
#define CULPRIT_ENV_STACKS "CULPRIT_TIMER_STACKS" /* "1": walk frame pointers */

#define CULPRIT_RING_MAGIC UINT64_C(0x31676e6952706c43) /* "ClpRing1" */
#define CULPRIT_RING_SUFFIX ".ring"
#define CULPRIT_RING_DATA_OFFSET 4096
#define CULPRIT_RING_DATA_BYTES (UINT64_C(1) << 17)        /* > 2,000 samples */
#define CULPRIT_RING_DATA_BYTES_STACKS (UINT64_C(1) << 19) /* > 500 full stacks */

/* Frames of one stack, the sampled address included. */
#define CULPRIT_MAX_FRAMES 127

/* Bits of sample_type, as in linux/perf_event.h. */
#define CULPRIT_SAMPLE_TYPE (1u << 0 | 1u << 1 | 1u << 2 | 1u << 8) /* IP TID TIME PERIOD */
#define CULPRIT_SAMPLE_TYPE_STACKS (CULPRIT_SAMPLE_TYPE | 1u << 5)  /* CALLCHAIN */

/* How the ring's thread came to be. */
enum culprit_ring_origin {
  CULPRIT_ORIGIN_EXEC = 0,   /* a new program; its first records are COMM and mappings */
  CULPRIT_ORIGIN_FORK = 1,   /* a forked child; its first record is FORK */
  CULPRIT_ORIGIN_THREAD = 2, /* a further thread; its first record is FORK */
};

/* Written by the thread except `tail` and `stop`. All sizes in bytes, times in ns. */
struct culprit_ring {
  uint64_t magic;
  uint64_t data_bytes; /* a power of two; the file has DATA_OFFSET + data_bytes */
  uint32_t pid;
  uint32_t tid;
  uint32_t parent_pid;
  uint32_t origin;
  uint64_t start_ns; /* CLOCK_MONOTONIC, before the first record */
  uint64_t period_ns;

  uint64_t head;
  uint64_t tail;           /* by the host */
  uint64_t stop;           /* by the host: not 0 = take no more samples */
  uint64_t closed;         /* the thread has ended; nothing will be added */
  uint64_t timer_errno;    /* not 0: this thread has no timer, and why */
  uint64_t samples;        /* written or lost */
  uint64_t lost_samples;   /* for want of room */
  uint64_t lost_records;   /* other records, for want of room */
  uint64_t merged_samples; /* written ones that stand for more than one period */
  uint64_t kernel_ns;      /* periods that ended inside a system call; not in the records */
  uint64_t cut_stacks;     /* at CULPRIT_MAX_FRAMES */
  uint64_t unfollowed;     /* programs started with an environment without the shim */
  uint64_t sandboxed;      /* the thread entered seccomp's strict mode: no samples from there on */
};

#endif
