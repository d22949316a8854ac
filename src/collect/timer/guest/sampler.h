/* Samples each thread by a timer on its own CPU time.
 *
 * The kernel looks at such timers at its ticks (every 4 ms at 250 Hz), so one
 * signal may stand for several periods: a sample's period field is the time that
 * it stands for, and times add up. */
#ifndef CULPRIT_GUEST_SAMPLER_H
#define CULPRIT_GUEST_SAMPLER_H

#include <signal.h>

#include "protocol.h"

/* The signal of the timers. A program that uses it for itself keeps it: see
 * signals.c. */
#define CULPRIT_SIGNAL SIGPROF

/* Starts in the calling thread, which has no ring yet; nothing happens if the
 * environment does not ask for it. Records for what begins (exec: COMM and
 * mappings; otherwise FORK) are written first. */
void sampler_start(uint32_t origin, uint32_t parent_pid, uint32_t parent_tid);

/* Stops in the calling thread, which is about to end. */
void sampler_stop(void);

/* The calling thread is about to lose the right to make system calls. */
void sampler_enter_sandbox(void);

/* In a forked child: the parent's ring is not ours. */
void sampler_forget(void);

/* Handles one of our timer's signals; 0 if it is not ours. */
int sampler_handle(siginfo_t* info, void* context);

/* Counts a program that was started without the shim in its environment. */
void sampler_count_unfollowed(void);

/* Takes settings out of the environment, once, early. */
void sampler_configure(char** environment);

int sampler_is_on(void);

#endif
