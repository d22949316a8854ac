/* Threads of the program: sampled from their start to their end (threads.c). */
#ifndef CULPRIT_GUEST_THREADS_H
#define CULPRIT_GUEST_THREADS_H

void threads_prepare(void);

#endif
