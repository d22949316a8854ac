/* See counters.h. One group for each thread, so that its events are read at one moment and by one
 * call. The program may close files that it does not know of and get their numbers for its own:
 * each time the kernel is asked first whether the number is still that of our counter. */
#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct culprit_region_counters wanted;

void counters_prepare(void) {
  if (!paths_read_file(CULPRIT_COUNTERS_FILE, &wanted, sizeof wanted)) return;
  const int is_sound = wanted.count <= CULPRIT_MAX_COUNTERS &&
                       wanted.attr_bytes == sizeof(struct perf_event_attr) &&
                       wanted.attr_bytes <= sizeof wanted.attrs[0];
  if (!is_sound) wanted.count = 0;
  if (wanted.count > 0) paths_fill_files();
}

int counters_are_wanted(void) {
  return wanted.count > 0;
}

/* A group as read() gives it. */
struct reading {
  uint64_t count;
  uint64_t time_enabled;
  uint64_t time_running;
  uint64_t values[CULPRIT_MAX_COUNTERS];
};

static int read_group(const struct thread* thread, struct reading* now) {
  uint64_t id = 0;
  const int fd = thread->counter_fds[0];
  if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0 || id != thread->counter_id) return 0;
  const size_t bytes = (3 + wanted.count) * sizeof(uint64_t);
  return read(fd, now, bytes) == (ssize_t)bytes && now->count == wanted.count;
}

void counters_stop(struct thread* thread) {
  const int saved_errno = errno;
  for (uint32_t i = 0; thread->is_counting && i < wanted.count; ++i) {
    uint64_t id;
    /* One that is no counter any more is the program's. */
    if (ioctl(thread->counter_fds[i], PERF_EVENT_IOC_ID, &id) == 0) close(thread->counter_fds[i]);
  }
  thread->is_counting = 0;
  errno = saved_errno;
}

static int open_group(struct thread* thread) {
  for (uint32_t i = 0; i < wanted.count; ++i) {
    const int leader = i == 0 ? -1 : thread->counter_fds[0];
    const long fd =
        syscall(SYS_perf_event_open, wanted.attrs[i], 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
      while (i > 0) close(thread->counter_fds[--i]);
      return 0;
    }
    thread->counter_fds[i] = (int)fd;
  }
  return ioctl(thread->counter_fds[0], PERF_EVENT_IOC_ID, &thread->counter_id) == 0;
}

static void take_reading(struct thread* thread, const struct reading* now) {
  if (now->time_running < now->time_enabled) paths_set_flag(CULPRIT_COUNTERS_TURNS);
  memcpy(thread->counted, now->values, sizeof thread->counted);
}

void counters_start(struct thread* thread) {
  if (wanted.count == 0) return;
  const int saved_errno = errno;
  struct reading now = {0, 0, 0, {0}};
  thread->is_counting = 0;
  if (thread->counts != NULL && open_group(thread) && read_group(thread, &now)) {
    thread->is_counting = 1;
    take_reading(thread, &now);
  } else {
    paths_set_flag(CULPRIT_COUNTERS_LOST);
  }
  errno = saved_errno;
}

void thread_count(struct thread* thread, uint32_t path, uint16_t state) {
  const int saved_errno = errno;
  struct reading now = {0, 0, 0, {0}};
  if (read_group(thread, &now)) {
    uint64_t* const values = thread->counts->values[thread->counted_path][thread->counted_waiting];
    for (uint32_t i = 0; i < wanted.count; ++i) values[i] += now.values[i] - thread->counted[i];
    take_reading(thread, &now);
  } else {
    counters_stop(thread);
    paths_set_flag(CULPRIT_COUNTERS_LOST);
  }
  thread->counted_path = state == CULPRIT_STATE_UNKNOWN ? 0 : path;
  thread->counted_waiting = state != CULPRIT_STATE_INSIDE;
  errno = saved_errno;
}
