/* See threads.h. A thread that ends leaves its slot, with all it has counted, to the next one that
 * begins: a program that starts threads for each nested region needs no more files for it. */
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/timer/guest/text.h"
#include "counters.h"

enum { kMaxThreads = 1024 };

static __thread struct thread* self;
static __thread char is_attaching; /* or ended */
static struct thread* slots[kMaxThreads];
static uint32_t slot_count;
static char busy;
static pthread_key_t end_key;
static int has_end_key;

static void lock(void) {
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
  }
}

static void unlock(void) {
  __atomic_clear(&busy, __ATOMIC_RELEASE);
}

static void end_thread(void* ending) {
  struct thread* thread = ending;
  self = NULL;
  is_attaching = 1;
  thread->shared->dropped += thread->depth;
  thread->shared->open = 0;
  thread->shared->held = 0;
  thread->shared->asked.path = 0;
  thread_tell(thread, clock_now(), 0, CULPRIT_STATE_INSIDE);
  counters_stop(thread);
  __atomic_store_n(&thread->is_free, 1, __ATOMIC_RELEASE);
}

void threads_prepare(void) {
  has_end_key = pthread_key_create(&end_key, end_thread) == 0;
}

static void reset(struct thread* thread) {
  struct culprit_region_thread* shared = thread->shared;
  struct culprit_region_log* log = thread->log;
  struct culprit_region_counts* counts = thread->counts;
  memset(thread, 0, sizeof *thread);
  thread->shared = shared;
  thread->log = log;
  thread->counts = counts;
  thread->tid = (uint32_t)syscall(SYS_gettid);
  ++shared->threads;
}

void thread_tell_place(struct thread* thread, uint64_t now) {
  if (thread->too_deep > 0) {
    thread_tell(thread, now, 0, CULPRIT_STATE_UNKNOWN);
  } else if (thread->in_barrier != NULL && thread->depth <= thread->barrier_depth) {
    const uint32_t path = thread->in_barrier->path;
    thread_tell(thread, now, path, path == 0 ? CULPRIT_STATE_UNKNOWN : CULPRIT_STATE_WAITING);
  } else if (thread->depth == 0) {
    thread_tell(thread, now, 0, CULPRIT_STATE_INSIDE);
  } else {
    const struct culprit_region_frame* top = &thread->shared->frames[thread->depth - 1];
    const uint16_t state = top->path == 0 ? CULPRIT_STATE_UNKNOWN
                           : top->is_wait ? CULPRIT_STATE_WAITING
                                          : CULPRIT_STATE_INSIDE;
    thread_tell(thread, now, top->path, state);
  }
}

/* The name of a slot's file in `name`; 0: it does not fit. */
static int name_file(uint32_t slot, const char* suffix, char* name, size_t size) {
  struct text text = {name, size, 0};
  text_add_number(&text, (uint64_t)getpid());
  text_add(&text, ".");
  text_add_number(&text, paths_salt());
  text_add(&text, ".");
  text_add_number(&text, slot);
  text_add(&text, suffix);
  return text_finish(&text);
}

static struct thread* make_slot(uint32_t slot) {
  char name[128];
  if (!name_file(slot, CULPRIT_THREAD_SUFFIX, name, sizeof name)) return NULL;
  struct thread* thread =
      mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (thread == MAP_FAILED) return NULL;
  thread->shared = paths_map_file(name, sizeof *thread->shared);
  if (thread->shared == NULL) {
    munmap(thread, sizeof *thread);
    return NULL;
  }
  thread->shared->pid = (uint32_t)getpid();
  thread->tid = (uint32_t)syscall(SYS_gettid);
  thread->shared->tid = thread->tid;
  __atomic_store_n(&thread->shared->magic, CULPRIT_THREAD_MAGIC, __ATOMIC_RELEASE);
  if (name_file(slot, CULPRIT_LOG_SUFFIX, name, sizeof name)) {
    thread->log = paths_map_file(name, sizeof *thread->log);
  }
  if (thread->log == NULL) {
    paths_set_flag(CULPRIT_NO_LOG);
  } else {
    __atomic_store_n(&thread->log->magic, CULPRIT_LOG_MAGIC, __ATOMIC_RELEASE);
  }
  if (counters_are_wanted() && name_file(slot, CULPRIT_COUNTS_SUFFIX, name, sizeof name)) {
    thread->counts = paths_map_file(name, sizeof *thread->counts);
    if (thread->counts != NULL) {
      __atomic_store_n(&thread->counts->magic, CULPRIT_COUNTS_MAGIC, __ATOMIC_RELEASE);
    }
  }
  return thread;
}

/* A slot that nobody has, and whose last thread no team waits for any more. */
static struct thread* take_slot(void) {
  for (uint32_t i = 0; i < slot_count; ++i) {
    struct thread* thread = slots[i];
    if (!__atomic_load_n(&thread->is_free, __ATOMIC_ACQUIRE)) continue;
    if (__atomic_load_n(&thread->in_barrier, __ATOMIC_ACQUIRE) != NULL) continue;
    return thread;
  }
  if (slot_count == kMaxThreads) return NULL;
  struct thread* made = make_slot(slot_count);
  if (made != NULL) slots[slot_count++] = made;
  return made;
}

static struct thread* attach(void) {
  struct culprit_region_paths* paths = paths_file();
  if (paths == NULL) return NULL;
  const int saved_errno = errno;
  is_attaching = 1;
  lock();
  struct thread* thread = take_slot();
  if (thread != NULL) reset(thread);
  unlock();
  if (thread == NULL) {
    __atomic_fetch_add(&paths->lost_threads, 1, __ATOMIC_RELAXED);
  } else {
    if (has_end_key) pthread_setspecific(end_key, thread);
    counters_start(thread);
    self = thread;
    is_attaching = 0;
  }
  errno = saved_errno;
  return thread;
}

struct thread* thread_self(void) {
  if (self != NULL) return self;
  if (is_attaching || !paths_are_on()) return NULL;
  return attach();
}

/* The child has one thread, in the constructs that its parent was in: they begin when the child
 * does, by which the host knows them. What was counted before is the parent's. The parent's
 * mappings are left alone: unmapping takes no part of its files. */
void threads_after_fork(void) {
  counters_begin_child();
  __atomic_clear(&busy, __ATOMIC_RELEASE);
  struct thread* inherited = self;
  struct culprit_region_thread* last = inherited == NULL ? NULL : inherited->shared;
  for (uint32_t i = 0; i < slot_count; ++i) {
    if (slots[i] != inherited) munmap(slots[i]->shared, sizeof *slots[i]->shared);
    slots[i]->shared = NULL;
    if (slots[i]->log != NULL) munmap(slots[i]->log, sizeof *slots[i]->log);
    slots[i]->log = NULL;
    if (slots[i]->counts != NULL) munmap(slots[i]->counts, sizeof *slots[i]->counts);
    slots[i]->counts = NULL;
  }
  slot_count = 0;
  self = NULL;
  is_attaching = 0;
  if (inherited == NULL || paths_file() == NULL) return;
  struct thread* thread = make_slot(0);
  if (thread == NULL) return;
  slots[slot_count++] = thread;
  struct culprit_region_thread* shared = thread->shared;
  struct culprit_region_log* log = thread->log;
  struct culprit_region_counts* counts = thread->counts;
  const uint32_t tid = thread->tid;
  memcpy(thread, inherited, sizeof *thread);
  thread->shared = shared;
  thread->log = log;
  thread->counts = counts;
  thread->tid = tid;
  thread->in_barrier = NULL;
  shared->threads = 1;
  shared->open = thread->depth;
  shared->held = last->held;
  memcpy(shared->frames, last->frames, sizeof shared->frames);
  memcpy(shared->locks, last->locks, sizeof shared->locks);
  munmap(last, sizeof *last);
  const uint64_t now = paths_file()->start_ticks;
  for (uint32_t i = 0; i < thread->depth; ++i) {
    shared->frames[i].begin = now;
    shared->frames[i].tasks = 0;
  }
  for (uint32_t i = 0; i < shared->held; ++i) shared->locks[i].since = now;
  counters_after_fork(thread);
  thread_tell_place(thread, now);
  if (has_end_key) pthread_setspecific(end_key, thread);
  self = thread;
}
