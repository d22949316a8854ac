/* What libculprit_regions.so (inside the profiled program) and collect/regions (in culprit) agree
 * on. Plain C11; both sides include it and nothing else of each other;
 * `openmp/guest/region_kinds.h` has the kinds of constructs.
 *
 * The host makes a folder and names it in the environment. Each process of the profiled program
 * makes one file of paths there, and one file per thread that meets a construct:
 *
 *   <pid>.<n>.paths            header, mapped files, call paths of regions
 *   <pid>.<n>.<slot>.thread    header, a struct culprit_region_counter per path
 *   <pid>.<n>.<slot>.log       header, the thread's last changes of region, for samples of it
 *   <pid>.<n>.<slot>.counts    header, what the thread counted in each path and waiting there
 *
 * and adds a row to the file `loaded`. What the host asks for is in the files `functions` and
 * `counters`, if it asks for any.
 *
 * A path is a construct below the constructs around it: its parent is another path, 0 is the
 * program itself. Counters are added up in place, so what a program leaves behind grows with its
 * distinct paths, and a program that is killed leaves all that it had counted.
 *
 * Times are ticks of the clock that the host chose: CLOCK_MONOTONIC in ns, or the counter that
 * rdtsc reads, which the host compares with CLOCK_MONOTONIC before and after.
 *
 * The host trusts none of it: the program may write there whatever it likes.
 */
#ifndef CULPRIT_REGIONS_PROTOCOL_H
#define CULPRIT_REGIONS_PROTOCOL_H

#include <stdint.h>

#include "openmp/guest/region_kinds.h"

/* The environment of the profiled program. */
#define CULPRIT_ENV_REGIONS "CULPRIT_REGIONS_FOLDER"
#define CULPRIT_ENV_REGIONS_CLOCK "CULPRIT_REGIONS_CLOCK" /* "tsc", else CLOCK_MONOTONIC */

#define CULPRIT_PATHS_MAGIC UINT64_C(0x3173687461506c43)  /* "ClPaths1" */
#define CULPRIT_THREAD_MAGIC UINT64_C(0x31646872546c7543) /* "CulThrd1" */
#define CULPRIT_PATHS_SUFFIX ".paths"
#define CULPRIT_THREAD_SUFFIX ".thread"
#define CULPRIT_LOG_MAGIC UINT64_C(0x31676f4c6e67526c) /* "lRgnLog1" */
#define CULPRIT_LOG_SUFFIX ".log"
#define CULPRIT_COUNTS_MAGIC UINT64_C(0x3173746e754f6c43) /* "ClOunts1" */
#define CULPRIT_COUNTS_SUFFIX ".counts"
#define CULPRIT_FUNCTIONS_FILE "functions"
#define CULPRIT_COUNTERS_FILE "counters"
#define CULPRIT_LOADED_FILE "loaded"

#define CULPRIT_MAX_PATHS 4096
#define CULPRIT_LOG_CHANGES 65536 /* a power of two */
#define CULPRIT_MAX_FILES 256
#define CULPRIT_FILE_NAME_BYTES 512
#define CULPRIT_NAMES_BYTES 65536
#define CULPRIT_LONGEST_NAME 255
#define CULPRIT_MAX_FUNCTIONS 64
#define CULPRIT_REPLACED_BYTES 32
#define CULPRIT_MOVED_BYTES 96
#define CULPRIT_MAX_REFERENCES 8
#define CULPRIT_MAX_COUNTERS 4
#define CULPRIT_DEEPEST 256
#define CULPRIT_HELD_LOCKS 64

/* The parts of a construct's time, per thread. */
enum culprit_region_part {
  CULPRIT_PART_ENTER,        /* until the body begins */
  CULPRIT_PART_BODY,         /* the construct's own code, and what is inside it */
  CULPRIT_PART_EXIT,         /* from the end of the body on, without the next */
  CULPRIT_PART_EXIT_BARRIER, /* waiting for the team at the implicit barrier */
  CULPRIT_PART_WAIT,         /* of what only waits: barriers, taskwait */
  CULPRIT_PARTS
};

/* Which runtimes were met, and what went wrong: bits of culprit_region_paths::flags. */
#define CULPRIT_SAW_GOMP 1u          /* functions of libgomp were called */
#define CULPRIT_SAW_OMPT 2u          /* a runtime with a tool interface started us as its tool */
#define CULPRIT_SAW_UNTOLD 4u        /* LLVM's runtime is there, and did not start us */
#define CULPRIT_OTHER_TOOL 8u        /* OMP_TOOL_LIBRARIES names another tool, which has it */
#define CULPRIT_TOOL_DISABLED 16u    /* OMP_TOOL=disabled */
#define CULPRIT_IS_FORKED 32u        /* the process did not begin with exec */
#define CULPRIT_OLD_RUNTIME 64u      /* a runtime refused callbacks */
#define CULPRIT_SAW_SINGLE_OPEN 128u /* a single of libgomp whose end was not seen */
#define CULPRIT_NO_LOG 512u          /* there was no room for a thread's log */
#define CULPRIT_SAW_MARKS 256u       /* the program marked regions itself */
#define CULPRIT_COUNTERS_LOST 1024u  /* the kernel refused a thread's counters, or the program */
                                     /* closed them */
#define CULPRIT_COUNTERS_TURNS 2048u /* counters were not on the CPU all the time */

/* A mapping of code that constructs are in. */
struct culprit_region_file {
  uint64_t start;
  uint64_t end;
  uint64_t file_offset;
  uint64_t inode;
  char name[CULPRIT_FILE_NAME_BYTES]; /* ends with a zero */
};

struct culprit_region_path {
  uint32_t parent; /* less than its own number */
  uint16_t kind;
  uint16_t detail;
  uint64_t site;        /* run address: return address - 1, or the entry of an outlined function */
  uint64_t end;         /* return address - 1 of where it ended first; 0: not seen */
  uint32_t is_outlined; /* `site` is the entry of a function that is the construct's body */
  uint32_t name;        /* where it is in `names`; 0: it has none */
};

/* Begins the file of paths. */
struct culprit_region_paths {
  uint64_t magic;
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t uses_tsc;
  uint32_t flags;
  uint64_t start_ticks;
  uint32_t path_count; /* path 0 included */
  uint32_t file_count;
  uint64_t lost_paths;             /* constructs met that found no room */
  uint64_t lost_threads;           /* threads likewise */
  uint64_t functions_seen;         /* a bit for each of culprit_region_functions: its calls are */
                                   /* seen in this process */
  uint64_t functions_refused;      /* it is here, and they are not */
  uint64_t names_used;             /* bytes of `names`; the first is a zero */
  char names[CULPRIT_NAMES_BYTES]; /* each ends with a zero */
  struct culprit_region_file files[CULPRIT_MAX_FILES];
  struct culprit_region_path paths[CULPRIT_MAX_PATHS];
};

struct culprit_region_counter {
  uint64_t executions;
  uint64_t ticks[CULPRIT_PARTS];
  uint64_t pieces;        /* loops: chunks; sections: those that this thread ran; tasks: created */
  uint64_t behind_single; /* ticks of the exit barrier of a region that ended with a single */
  uint64_t inner_tasks; /* ticks of tasks that ran while the thread waited, and are in the body; */
                        /* of a task: of its creation where that is not in its parent */
};

/* A construct that has begun, or a wait at the end of one. */
struct culprit_region_frame {
  uint32_t path;
  uint16_t kind;
  uint8_t is_wait;
  uint8_t part;     /* of a wait: which part it is */
  uint64_t begin;   /* of the body, or of the wait */
  uint64_t tasks;   /* ticks of tasks that ran meanwhile, on this thread */
  const void* task; /* means nothing to others */
};

struct culprit_region_lock {
  uint64_t lock; /* means nothing to others */
  uint32_t path;
  uint32_t depth;
  uint64_t since;
};

/* A wait that is in no frame. */
struct culprit_region_wait {
  uint64_t begin;
  uint64_t tasks; /* as in a frame */
  uint32_t path;  /* 0: none */
  uint32_t reserved;
};

/* Begins the file of a thread. What it is in is here, too: if the program ends now, it has been
 * there until now. */
struct culprit_region_thread {
  uint64_t magic;
  uint32_t pid;
  uint32_t tid;                       /* of the first thread that used this slot */
  uint32_t number;                    /* the first number it had in a team, plus one; 0: in none */
  uint32_t threads;                   /* that used this slot, one after the other */
  uint32_t open;                      /* frames */
  uint32_t held;                      /* locks */
  uint64_t dropped;                   /* constructs that ended by something else than their end */
  uint64_t unmatched;                 /* ends without a beginning */
  uint64_t too_deep;                  /* constructs nested deeper than is followed */
  uint64_t backwards;                 /* times the clock went backwards */
  struct culprit_region_wait asked;   /* to be let into a critical section, for a lock */
  struct culprit_region_wait barrier; /* at the end of a parallel region */
  struct culprit_region_frame frames[CULPRIT_DEEPEST]; /* the outermost first */
  struct culprit_region_lock locks[CULPRIT_HELD_LOCKS];
  struct culprit_region_counter counters[CULPRIT_MAX_PATHS];
};

/* A part of moved code: how far its target is from the end of its instruction (32 bits), or the
 * target itself (64 bits). */
struct culprit_region_reference {
  uint16_t at;
  uint16_t behind; /* bytes of the instruction that follow it */
  uint32_t is_address;
  int64_t target; /* from the beginning of the function on */
};

/* A function whose calls are regions. Its first instructions are moved, so that a jump to a wrapper
 * has room there (functions.c). */
struct culprit_region_function {
  uint64_t file_offset; /* of its beginning */
  uint32_t replaced;    /* bytes that are moved */
  uint32_t moved_bytes; /* what they become elsewhere */
  uint32_t reference_count;
  uint32_t reserved;
  uint8_t code[CULPRIT_REPLACED_BYTES]; /* what has to be there */
  uint8_t moved[CULPRIT_MOVED_BYTES];
  struct culprit_region_reference references[CULPRIT_MAX_REFERENCES];
  char path[CULPRIT_FILE_NAME_BYTES]; /* of the file, as /proc/PID/maps has it */
};

struct culprit_region_functions {
  uint32_t count;
  uint32_t reserved;
  struct culprit_region_function functions[CULPRIT_MAX_FUNCTIONS];
};

/* Events that each thread counts in its regions: a perf_event_attr each. */
struct culprit_region_counters {
  uint32_t count;
  uint32_t attr_bytes;
  uint8_t attrs[CULPRIT_MAX_COUNTERS][256];
};

/* The library is in this process from then on. */
struct culprit_region_loaded {
  uint64_t time_ns; /* of CLOCK_MONOTONIC */
  uint32_t pid;
  uint32_t reserved;
  char name[16]; /* of the process, as the kernel has it */
};

/* What a thread does in the path that it is in. */
enum culprit_region_state {
  CULPRIT_STATE_INSIDE,  /* works; path 0: outside of all regions */
  CULPRIT_STATE_WAITING, /* waits to be let in, or at its end */
  CULPRIT_STATE_UNKNOWN, /* the path found no room, or is deeper than is followed */
  CULPRIT_STATES
};

/* What a thread counted in each path, in the construct itself and waiting there. What it counted
 * where nobody knows is of no path, waiting. */
struct culprit_region_counts {
  uint64_t magic;
  uint64_t spare[7];
  uint64_t values[CULPRIT_MAX_PATHS][2][CULPRIT_MAX_COUNTERS];
};

/* From `ticks` on the thread was there. */
struct culprit_region_change {
  uint64_t ticks;
  uint32_t tid; /* a slot's threads follow each other */
  uint16_t path;
  uint16_t state;
};

/* A ring of the last changes. Number `count` is written over the one CULPRIT_LOG_CHANGES before,
 * then counted; a reader asks again afterwards how many there are. */
struct culprit_region_log {
  uint64_t magic;
  uint64_t count; /* that there ever were */
  uint64_t spare[6];
  struct culprit_region_change changes[CULPRIT_LOG_CHANGES];
};

#endif
