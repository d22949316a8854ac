/* Where singles of libgomp end: it is told where one begins, and no more. A single ends at the
 * barrier that the same call of the same function comes to next. Without that (nowait, or the
 * region ends with it) it is taken to last until that function's next work-sharing construct, or
 * the end of the region. */
#include <stddef.h>

#include "constructs.h"
#include "gomp_wrappers.h"

static struct culprit_region_frame* innermost_single(struct thread* thread) {
  if (construct_innermost(thread, CULPRIT_KIND_SINGLE) == 0) return NULL;
  return &thread->shared->frames[thread->depth - 1];
}

static void forget_single(struct thread* thread, struct culprit_region_frame* single) {
  const uint64_t now = clock_now();
  paths_set_flag(CULPRIT_SAW_SINGLE_OPEN);
  if (single->part != CULPRIT_PART_BODY) single->begin = now;
  construct_end(thread, CULPRIT_KIND_SINGLE, now, 0);
}

void leave_open_single(struct thread* thread, const void* frame_of_caller, int is_shared) {
  struct culprit_region_frame* single = innermost_single(thread);
  if (single == NULL) return;
  const int is_executor = single->part == CULPRIT_PART_BODY;
  if (!is_executor || (is_shared && single->task == frame_of_caller)) {
    forget_single(thread, single);
  }
}

void begin_single(struct thread* thread, uint32_t path, int is_executor, uint64_t now,
                  const void* frame_of_caller) {
  construct_begin(thread, path, CULPRIT_KIND_SINGLE, now);
  struct culprit_region_frame* single = innermost_single(thread);
  if (single == NULL) return;
  single->task = frame_of_caller;
  single->part = is_executor ? CULPRIT_PART_BODY : CULPRIT_PART_EXIT_BARRIER;
  if (is_executor) ++thread_counter(thread, path)->pieces;
}

uint32_t end_single(struct thread* thread, uint64_t now, const void* frame_of_caller) {
  struct culprit_region_frame* single = innermost_single(thread);
  if (single == NULL || (frame_of_caller != NULL && single->task != frame_of_caller)) return 0;
  if (single->part != CULPRIT_PART_BODY) single->begin = now;
  return construct_end(thread, CULPRIT_KIND_SINGLE, now, 0);
}
