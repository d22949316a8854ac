/* One signal for two: our timers and the program.
 *
 * Our handler stays installed. What the program asks for with sigaction() or
 * signal() is remembered, told back, and called for signals that are not from
 * our timers; so a program with a profiler of its own works as before. Masks
 * never block the signal (blocked samples would only be late); in return a
 * program cannot hold back its own use of it.
 *
 * Not seen: programs that make the system calls themselves, or wait for the
 * signal with sigwait() and signalfd(). */
#define _GNU_SOURCE
#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "sampler.h"

#define EXPORT __attribute__((visibility("default")))

typedef int sigaction_function(int, const struct sigaction*, struct sigaction*);
typedef int mask_function(int, const sigset_t*, sigset_t*);

static struct sigaction program_action; /* all zero: SIG_DFL */
static int is_installed;

static sigaction_function* next_sigaction(void) {
  static sigaction_function* found;
  if (found == NULL) found = (sigaction_function*)dlsym(RTLD_NEXT, "sigaction");
  return found;
}

/* A signal of somebody else: as if we were not here. */
static void pass_on(int signal_number, siginfo_t* info, void* context) {
  const struct sigaction action = program_action;
  if (action.sa_flags & SA_SIGINFO) {
    action.sa_sigaction(signal_number, info, context);
  } else if (action.sa_handler == SIG_DFL) {
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    next_sigaction()(signal_number, &standard, NULL);
    raise(signal_number); /* ends the program once the handler returns */
  } else if (action.sa_handler != SIG_IGN) {
    action.sa_handler(signal_number);
  }
}

static void handle(int signal_number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (!sampler_handle(info, context)) pass_on(signal_number, info, context);
  errno = saved_errno;
}

void signals_install(void) {
  if (is_installed) return;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask); /* nobody jumps out of our handler */
  if (next_sigaction()(CULPRIT_SIGNAL, &action, &program_action) == 0) is_installed = 1;
}

EXPORT int sigaction(int signal_number, const struct sigaction* action, struct sigaction* old) {
  if (signal_number != CULPRIT_SIGNAL || !is_installed) {
    return next_sigaction()(signal_number, action, old);
  }
  const struct sigaction before = program_action;
  if (action != NULL) program_action = *action;
  if (old != NULL) *old = before;
  return 0;
}

EXPORT __sighandler_t signal(int signal_number, __sighandler_t handler) {
  typedef __sighandler_t signal_function(int, __sighandler_t);
  if (signal_number != CULPRIT_SIGNAL || !is_installed) {
    signal_function* next = (signal_function*)dlsym(RTLD_NEXT, "signal");
    return next(signal_number, handler);
  }
  const __sighandler_t before = program_action.sa_handler;
  memset(&program_action, 0, sizeof program_action);
  program_action.sa_handler = handler;
  program_action.sa_flags = SA_RESTART;
  return before;
}

/* The set without our signal, if it is one that blocks. */
static const sigset_t* without_ours(int how, const sigset_t* set, sigset_t* storage) {
  if (set == NULL || how == SIG_UNBLOCK || !is_installed) return set;
  *storage = *set;
  sigdelset(storage, CULPRIT_SIGNAL);
  return storage;
}

EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) {
  static mask_function* next;
  if (next == NULL) next = (mask_function*)dlsym(RTLD_NEXT, "sigprocmask");
  sigset_t storage;
  return next(how, without_ours(how, set, &storage), old);
}

EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
  static mask_function* next;
  if (next == NULL) next = (mask_function*)dlsym(RTLD_NEXT, "pthread_sigmask");
  sigset_t storage;
  return next(how, without_ours(how, set, &storage), old);
}
