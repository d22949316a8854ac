/* See counters.h. Asking the kernel at each edge takes a microsecond and more. Three sources cost
 * less, and each event has the cheapest that counts the same:
 *
 * Its ring: events of the kernel's software that happen one by one (page faults, switches) write a
 * record each into a ring that nobody empties. How far it has been written says how many there
 * were: that is read from memory. No file stays open.
 *
 * The clock: CPU time is what the kernel said last, and the time since, as long as the thread has
 * kept its CPU. A ring of its switches tells whether it has.
 *
 * read(): all others, in one group, so that they are read at one moment and by one call. The
 * program may close files that it does not know of and get their numbers for its own: each time the
 * kernel is asked first whether the number is still that of our counter.
 *
 * Where a thread can have no rings (too much locked memory) all its events are read. */
#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kRecordBytes = 8 }; /* that a ring has of each event: a header */

static struct culprit_region_counters wanted;
static size_t ring_bytes;
/* In a child of a fork that nobody told us of it is zero: rings do not exist there. */
static volatile char* is_here;

static const struct perf_event_attr* attr_of(uint32_t event) {
  return (const struct perf_event_attr*)(const void*)wanted.attrs[event];
}

static int has_ring(uint32_t event) {
  const struct perf_event_attr* attr = attr_of(event);
  if (attr->type != PERF_TYPE_SOFTWARE) return 0;
  switch (attr->config) {
    case PERF_COUNT_SW_PAGE_FAULTS:
    case PERF_COUNT_SW_PAGE_FAULTS_MIN:
    case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
    case PERF_COUNT_SW_CONTEXT_SWITCHES:
    case PERF_COUNT_SW_CPU_MIGRATIONS:
    case PERF_COUNT_SW_ALIGNMENT_FAULTS:
    case PERF_COUNT_SW_EMULATION_FAULTS:
      return 1;
    default:
      return 0;
  }
}

static int is_clock(uint32_t event) {
  const struct perf_event_attr* attr = attr_of(event);
  return attr->type == PERF_TYPE_SOFTWARE &&
         (attr->config == PERF_COUNT_SW_TASK_CLOCK || attr->config == PERF_COUNT_SW_CPU_CLOCK);
}

void counters_prepare(void) {
  if (!paths_read_file(CULPRIT_COUNTERS_FILE, &wanted, sizeof wanted)) return;
  const int is_sound = wanted.count <= CULPRIT_MAX_COUNTERS &&
                       wanted.attr_bytes == sizeof(struct perf_event_attr) &&
                       wanted.attr_bytes <= sizeof wanted.attrs[0];
  if (!is_sound) wanted.count = 0;
  if (wanted.count == 0) return;
  paths_fill_files();
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || madvise(memory, page, MADV_WIPEONFORK) != 0) return;
  is_here = memory;
  *is_here = 1;
  ring_bytes = 2 * page; /* its header, and what is written again and again */
}

int counters_are_wanted(void) {
  return wanted.count > 0;
}

/* ---- rings ---- */

static void* map_ring(struct perf_event_attr* attr) {
  if (ring_bytes == 0) return NULL;
  const long fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return NULL;
  /* One that cannot be written by us is never full. */
  void* ring = mmap(NULL, ring_bytes, PROT_READ, MAP_SHARED, (int)fd, 0);
  close((int)fd); /* the mapping keeps the event */
  return ring == MAP_FAILED ? NULL : ring;
}

static void* map_ring_of_event(uint32_t event) {
  struct perf_event_attr attr = *attr_of(event);
  attr.read_format = 0;
  attr.sample_type = 0;
  attr.sample_id_all = 0;
  attr.sample_period = 1;
  return map_ring(&attr);
}

/* Of the moments at which the thread gets a CPU and loses it. */
static void* map_ring_of_switches(void) {
  struct perf_event_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.context_switch = 1;
  attr.exclude_kernel = 1;
  return map_ring(&attr);
}

static uint64_t read_ring(const void* ring) {
  const struct perf_event_mmap_page* page = ring;
  return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the group ---- */

/* A group as read() gives it. */
struct reading {
  uint64_t count;
  uint64_t time_enabled;
  uint64_t time_running;
  uint64_t values[CULPRIT_MAX_COUNTERS];
};

static int read_group(struct counting* counting) {
  uint64_t id = 0;
  const int fd = counting->fds[0];
  if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0 || id != counting->id) return 0;
  struct reading now = {0, 0, 0, {0}};
  const size_t bytes = (3 + counting->in_group) * sizeof(uint64_t);
  if (read(fd, &now, bytes) != (ssize_t)bytes || now.count != counting->in_group) return 0;
  if (now.time_running < now.time_enabled) paths_set_flag(CULPRIT_COUNTERS_TURNS);
  memcpy(counting->group, now.values, sizeof counting->group);
  return 1;
}

/* The group as it was when the thread got its CPU last; `counting->since_ns` later now. Where it
 * has lost its CPU meanwhile that is no time of its own: once more. */
static int read_clocks(struct counting* counting) {
  enum { kTries = 3 };
  for (int i = 0; i < kTries; ++i) {
    const uint64_t switches = read_ring(counting->switches);
    if (switches != counting->seen_switches) {
      counting->seen_switches = switches;
      if (!read_group(counting)) return 0;
      counting->read_ns = now_ns();
    }
    counting->since_ns = now_ns() - counting->read_ns;
    if (read_ring(counting->switches) == switches) return 1;
  }
  counting->since_ns = 0;
  return 1;
}

static int open_group(struct counting* counting) {
  for (uint32_t i = 0; i < wanted.count; ++i) {
    if (counting->rings[i] != NULL) continue;
    const int leader = counting->in_group == 0 ? -1 : counting->fds[0];
    const long fd =
        syscall(SYS_perf_event_open, wanted.attrs[i], 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return 0;
    counting->fds[counting->in_group++] = (int)fd;
  }
  return counting->in_group == 0 || ioctl(counting->fds[0], PERF_EVENT_IOC_ID, &counting->id) == 0;
}

static void close_group(struct counting* counting) {
  for (uint32_t i = 0; i < counting->in_group; ++i) {
    uint64_t id;
    /* One that is no counter any more is the program's. */
    if (ioctl(counting->fds[i], PERF_EVENT_IOC_ID, &id) == 0) close(counting->fds[i]);
  }
  counting->in_group = 0;
}

/* ---- threads ---- */

static void open_rings(struct counting* counting) {
  int are_all_clocks = 1;
  for (uint32_t i = 0; i < wanted.count; ++i) {
    if (has_ring(i)) counting->rings[i] = map_ring_of_event(i);
    if (counting->rings[i] == NULL) are_all_clocks = are_all_clocks && is_clock(i);
  }
  if (are_all_clocks) counting->switches = map_ring_of_switches();
}

static int take_values(struct counting* counting, uint64_t* values) {
  const int has_clocks = counting->switches != NULL && counting->in_group > 0;
  if (has_clocks ? !read_clocks(counting) : counting->in_group > 0 && !read_group(counting)) {
    return 0;
  }
  uint32_t at = 0;
  for (uint32_t i = 0; i < wanted.count; ++i) {
    values[i] = counting->rings[i] != NULL ? read_ring(counting->rings[i]) / kRecordBytes
                                           : counting->group[at++] + counting->since_ns;
  }
  return 1;
}

static void unmap_rings(struct counting* counting) {
  for (uint32_t i = 0; i < wanted.count; ++i) {
    if (counting->rings[i] != NULL) munmap(counting->rings[i], ring_bytes);
  }
  if (counting->switches != NULL) munmap(counting->switches, ring_bytes);
}

void counters_stop(struct thread* thread) {
  if (!thread->is_counting) return;
  const int saved_errno = errno;
  close_group(&thread->counting);
  unmap_rings(&thread->counting);
  thread->is_counting = 0;
  errno = saved_errno;
}

void counters_begin_child(void) {
  if (is_here != NULL) *is_here = 1;
}

void counters_after_fork(struct thread* thread) {
  if (thread->is_counting) close_group(&thread->counting);
  thread->is_counting = 0;
  counters_start(thread);
}

void counters_start(struct thread* thread) {
  if (wanted.count == 0) return;
  const int saved_errno = errno;
  struct counting* const counting = &thread->counting;
  memset(counting, 0, sizeof *counting);
  counting->seen_switches = UINT64_MAX;
  thread->is_counting = 0;
  if (thread->counts != NULL) open_rings(counting);
  /* The first time may cause page faults. */
  if (thread->counts != NULL && open_group(counting) && take_values(counting, counting->values) &&
      take_values(counting, counting->values)) {
    thread->is_counting = 1;
  } else {
    close_group(counting);
    unmap_rings(counting);
    paths_set_flag(CULPRIT_COUNTERS_LOST);
  }
  errno = saved_errno;
}

void thread_count(struct thread* thread, uint32_t path, uint16_t state) {
  const int saved_errno = errno;
  struct counting* const counting = &thread->counting;
  uint64_t now[CULPRIT_MAX_COUNTERS] = {0};
  const int is_told_of_fork = is_here == NULL || *is_here != 0;
  if (is_told_of_fork && take_values(counting, now)) {
    uint64_t* const values = thread->counts->values[counting->path][counting->is_waiting];
    for (uint32_t i = 0; i < wanted.count; ++i) {
      if (now[i] <= counting->values[i]) continue; /* two clocks may differ by some ns */
      values[i] += now[i] - counting->values[i];
      counting->values[i] = now[i];
    }
  } else {
    if (is_told_of_fork) {
      counters_stop(thread);
    } else {
      thread->is_counting = 0;
    }
    paths_set_flag(CULPRIT_COUNTERS_LOST);
  }
  counting->path = state == CULPRIT_STATE_UNKNOWN ? 0 : path;
  counting->is_waiting = state != CULPRIT_STATE_INSIDE;
  errno = saved_errno;
}
