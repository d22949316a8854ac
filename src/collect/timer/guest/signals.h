/* Our signal handler, and the program's own use of the same signal (signals.c). */
#ifndef CULPRIT_GUEST_SIGNALS_H
#define CULPRIT_GUEST_SIGNALS_H

void signals_install(void);

#endif
