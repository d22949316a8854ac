/* The calling threads' return addresses by frame pointers, from a signal handler. */
#ifndef CULPRIT_GUEST_STACK_H
#define CULPRIT_GUEST_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Return addresses of the callers, nearest first, up to `capacity`; how many.
 * `end` is where the thread's stack ends (0: unknown). Frames between `sp` and
 * `end` are read directly; others (coroutines, alternate stacks) through the
 * kernel, so that a wild frame pointer stops the walk instead of the program. */
size_t stack_walk(uint64_t fp, uint64_t sp, uint64_t end, uint64_t* callers, size_t capacity);

#endif
