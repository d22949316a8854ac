/* The functions of libgomp that make tasks.
 *
 * libgomp copies what a task is given, `size` bytes by `copy` or as they are, and calls the task's
 * function with the copy. We have it copy more: what we need, then the program's own bytes. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "constructs.h"
#include "gomp_wrappers.h"

#define LOOP_START(name, schedule, parameters, arguments)
#define LOOP_NEXT(name, type)
#define LOOP_END(name, type)
#define PARALLEL(name, type, loop, parameters, arguments)
#define PARALLEL_START(name, loop, parameters, arguments)
#define OTHER(name, type, parameters) EXPORT type name parameters;

#include "openmp/guest/gomp_functions.def"

struct wrapped_task {
  void (*function)(void*);
  void (*copy)(void*, void*);
  void* data;
  size_t size;
  size_t offset; /* of the program's bytes */
  uint32_t path;
};

static void copy_task(void* to, void* from) {
  const struct wrapped_task* source = from;
  *(struct wrapped_task*)to = *source;
  char* own = (char*)to + source->offset;
  if (source->copy != NULL) {
    source->copy(own, source->data);
  } else if (source->size > 0) {
    memcpy(own, source->data, source->size);
  }
}

static void run_task(void* copied) {
  const struct wrapped_task* task = copied;
  struct thread* const thread = thread_self();
  const uint32_t path = task->path;
  if (thread != NULL) task_begin(thread, path, NULL, clock_now());
  run_body(task->function, (char*)copied + task->offset);
  if (thread != NULL) task_end(thread, clock_now(), 1);
}

enum { kTaskDetaches = 1 << 13 };

void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size,
               long alignment, bool is_deferred, unsigned flags, void** depend, int priority,
               void* detach) {
  FIND_REAL(GOMP_task);
  if (real == NULL) return;
  const bool is_usual = (flags & kTaskDetaches) == 0 && alignment > 0 && size >= 0;
  if (thread != NULL) leave_open_single(thread, NULL, 0);
  const uint32_t path =
      thread == NULL || !is_usual
          ? 0
          : construct_path_of_function(thread, CULPRIT_KIND_TASK, CULPRIT_DETAIL_NONE,
                                       (const void*)(uintptr_t)function);
  if (path == 0) {
    real(function, data, copy, size, alignment, is_deferred, flags, depend, priority, detach);
    return;
  }
  const size_t ours = _Alignof(struct wrapped_task);
  const size_t wider = (size_t)alignment > ours ? (size_t)alignment : ours;
  const size_t offset = (sizeof(struct wrapped_task) + wider - 1) & ~(wider - 1);
  struct wrapped_task task = {function, copy, data, (size_t)size, offset, path};
  ++thread_counter(thread, path)->pieces;
  wait_begin(thread, path, CULPRIT_PART_ENTER, clock_now()); /* it may run at once */
  real(run_task, &task, copy_task, (long)(offset + (size_t)size), (long)wider, is_deferred, flags,
       depend, priority, detach);
  wait_end(thread, clock_now());
}

/* ---- taskloop: its tasks get their bounds in the first two numbers of their copies, and where a
 * reduction is in the third ---- */

struct wrapped_loop_task {
  ull from;
  ull to;
  uintptr_t reductions;
  struct wrapped_task task;
};

static void copy_loop_task(void* to, void* from) {
  const struct wrapped_loop_task* source = from;
  *(struct wrapped_loop_task*)to = *source;
  char* own = (char*)to + source->task.offset;
  if (source->task.copy != NULL) {
    source->task.copy(own, source->task.data);
  } else if (source->task.size > 0) {
    memcpy(own, source->task.data, source->task.size);
  }
}

static void run_loop_task(void* copied) {
  const struct wrapped_loop_task* loop = copied;
  struct thread* const thread = thread_self();
  char* own = (char*)copied + loop->task.offset;
  memcpy(own, &loop->from, 2 * sizeof loop->from);
  if (thread != NULL) {
    task_begin(thread, loop->task.path, NULL, clock_now());
    ++thread_counter(thread, loop->task.path)->pieces;
  }
  run_body(loop->task.function, own);
  if (thread != NULL) task_end(thread, clock_now(), 1);
}

static bool wrap_loop_task(struct thread* thread, struct wrapped_loop_task* loop,
                           void (*function)(void*), void* data, void (*copy)(void*, void*),
                           long size, long* alignment) {
  if (thread == NULL || size < 2 * (long)sizeof(ull) || *alignment <= 0) return false;
  leave_open_single(thread, NULL, 0);
  const uint32_t path = construct_path_of_function(
      thread, CULPRIT_KIND_TASKLOOP, CULPRIT_DETAIL_NONE, (const void*)(uintptr_t)function);
  if (path == 0) return false;
  const size_t ours = _Alignof(struct wrapped_loop_task);
  const size_t wider = (size_t)*alignment > ours ? (size_t)*alignment : ours;
  *alignment = (long)wider;
  loop->task.offset = (sizeof *loop + wider - 1) & ~(wider - 1);
  loop->task.function = function;
  loop->task.copy = copy;
  loop->task.data = data;
  loop->task.size = (size_t)size;
  loop->task.path = path;
  loop->from = loop->to = 0;
  loop->reductions = 0;
  if ((size_t)size >= 2 * sizeof(ull) + sizeof(uintptr_t)) {
    memcpy(&loop->reductions, (char*)data + 2 * sizeof(ull), sizeof loop->reductions);
  }
  return true;
}

#define TASKLOOP(name, type)                                                                     \
  void name(void (*function)(void*), void* data, void (*copy)(void*, void*), long size,          \
            long alignment, unsigned flags, unsigned long tasks, int priority, type start,       \
            type end, type step) {                                                               \
    FIND_REAL(name);                                                                             \
    if (real == NULL) return;                                                                    \
    struct wrapped_loop_task loop;                                                               \
    long wider = alignment;                                                                      \
    if (!wrap_loop_task(thread, &loop, function, data, copy, size, &wider)) {                    \
      real(function, data, copy, size, alignment, flags, tasks, priority, start, end, step);     \
      return;                                                                                    \
    }                                                                                            \
    const uint32_t path = loop.task.path;                                                        \
    wait_begin(thread, path, CULPRIT_PART_EXIT_BARRIER, clock_now());                            \
    real(run_loop_task, &loop, copy_loop_task, (long)(loop.task.offset + loop.task.size), wider, \
         flags, tasks, priority, start, end, step);                                              \
    wait_end(thread, clock_now());                                                               \
  }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, ull)
