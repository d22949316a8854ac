/* See sampler.h. */
#define _GNU_SOURCE
#include "sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "mappings.h"
#include "record.h"
#include "ring.h"
#include "stack.h"
#include "text.h"

/* What a thread needs in its handler. initial-exec: no lazy allocation there. */
struct thread_state {
  struct culprit_ring* ring; /* NULL: not sampled */
  int timer;                 /* the kernel's id; -1: none */
  uint64_t stack_end;
  int is_sampled; /* at least once */
  char name[17];  /* as last reported */
};
static __thread struct thread_state self
    __attribute__((tls_model("initial-exec"))) = {NULL, -1, 0, 0, ""};

static char folder[4096 - 64]; /* "" = off */
static uint64_t period_ns;
static uint64_t tick_ns; /* at which the kernel looks at CPU timers */
static int with_stacks;
static char cookie; /* its address marks our timers */

static const char* find_setting(char** environment, const char* name) {
  const size_t length = strlen(name);
  for (; *environment != NULL; ++environment) {
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
      return *environment + length + 1;
    }
  }
  return NULL;
}

void sampler_configure(char** environment) {
  const char* place = find_setting(environment, CULPRIT_ENV_FOLDER);
  const char* period = find_setting(environment, CULPRIT_ENV_PERIOD);
  const char* stacks = find_setting(environment, CULPRIT_ENV_STACKS);
  if (place == NULL || period == NULL || strlen(place) >= sizeof folder) return;
  period_ns = text_take_number(&period, 10);
  if (period_ns == 0) return;
  with_stacks = stacks != NULL && stacks[0] == '1';
  struct timespec tick;
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0) {
    tick_ns = (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec;
  }
  strcpy(folder, place);
}

int sampler_is_on(void) {
  return folder[0] != '\0';
}

static uint64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- keeping our own handler out while the thread writes elsewhere ---- */

static void block_signal(sigset_t* before) {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, CULPRIT_SIGNAL);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &ours, before, _NSIG / 8);
}

static void unblock_signal(void) {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, CULPRIT_SIGNAL);
  syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, NULL, _NSIG / 8);
}

static void restore_signal(const sigset_t* before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, _NSIG / 8);
}

/* ---- the timer ---- */

/* A first phase anywhere in the period, so that short threads are hit as often
 * as their time deserves: splitmix64 of things that differ each time. A period
 * below the tick ends at the first tick anyway, however short the thread. */
static uint64_t random_phase_ns(uint64_t now_ns) {
  if (period_ns < tick_ns) return 1;
  uint64_t x = now_ns ^ (uint64_t)syscall(SYS_gettid) << 40 ^ (uint64_t)(uintptr_t)&self;
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return 1 + (x ^ (x >> 31)) % period_ns;
}

static struct timespec to_timespec(uint64_t ns) {
  return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static int start_timer(uint64_t now_ns) {
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = CULPRIT_SIGNAL;
  event.sigev_value.sival_ptr = &cookie;
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  int timer = -1;
  if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return errno;

  struct itimerspec times;
  times.it_value = to_timespec(random_phase_ns(now_ns));
  times.it_interval = to_timespec(period_ns);
  if (syscall(SYS_timer_settime, timer, 0, &times, NULL) != 0) {
    const int reason = errno;
    syscall(SYS_timer_delete, timer);
    return reason;
  }
  self.timer = timer;
  return 0;
}

static void stop_timer(void) {
  if (self.timer >= 0) syscall(SYS_timer_delete, self.timer);
  self.timer = -1;
}

/* ---- begin and end of a thread ---- */

static uint64_t find_stack_end(uint32_t origin) {
  pthread_attr_t attributes;
  void* low = NULL;
  size_t size = 0;
  if (origin == CULPRIT_ORIGIN_EXEC) return mappings_main_stack_end();
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  const int failed = pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return failed ? 0 : (uint64_t)(uintptr_t)low + size;
}

/* Not by prctl(), which sandbox.c puts itself in front of, and which would lead back here. */
static void get_name(char name[16]) {
  syscall(SYS_prctl, PR_GET_NAME, name);
}

static void write_beginning(struct culprit_ring* ring, uint32_t parent_pid, uint32_t parent_tid) {
  get_name(self.name);
  if (ring->origin == CULPRIT_ORIGIN_EXEC) {
    record_write_comm(ring, self.name, 1, ring->start_ns);
    mappings_scan(ring, ring->start_ns);
  } else {
    record_write_task(ring, PERF_RECORD_FORK, parent_pid, parent_tid, ring->start_ns);
  }
}

void sampler_start(uint32_t origin, uint32_t parent_pid, uint32_t parent_tid) {
  if (!sampler_is_on() || self.ring != NULL) return;
  const int saved_errno = errno;
  struct culprit_ring* ring = ring_make(folder, origin, with_stacks);
  if (ring != NULL) {
    ring->period_ns = period_ns;
    write_beginning(ring, parent_pid, parent_tid);
    if (with_stacks && self.stack_end == 0) self.stack_end = find_stack_end(origin);
    self.ring = ring;
    ring->timer_errno = (uint64_t)start_timer(ring->start_ns);
    unblock_signal(); /* a mask may be inherited over exec */
  }
  errno = saved_errno;
}

void sampler_stop(void) {
  if (self.ring == NULL) return;
  sigset_t before;
  block_signal(&before);
  stop_timer();
  struct culprit_ring* ring = self.ring;
  self.ring = NULL; /* a signal still under way finds nothing */
  if (ring->pid == (uint32_t)getpid()) {
    record_write_task(ring, PERF_RECORD_EXIT, ring->parent_pid, ring->tid, monotonic_ns());
    ring_close(ring);
  }
  restore_signal(&before);
}

/* The signal stays blocked: one that is under way would end in our handler. */
void sampler_enter_sandbox(void) {
  if (self.ring == NULL) return;
  sigset_t before;
  block_signal(&before);
  stop_timer();
  self.ring->sandboxed = 1;
}

void sampler_forget(void) {
  if (self.ring != NULL) ring_forget(self.ring);
  self.ring = NULL;
  self.timer = -1; /* timers are not inherited */
  self.is_sampled = 0;
  mappings_after_fork();
}

void sampler_count_unfollowed(void) {
  if (self.ring != NULL) ++self.ring->unfollowed;
}

/* ---- a sample ---- */

/* What this signal stands for. Where ticks decide, each stands for a whole tick: the first
 * one too, although the thread may have begun within it; that pays for the last part of a
 * thread, which no tick sees, so that short threads count by their time on average. */
static uint64_t take_value_ns(const siginfo_t* info) {
  const uint64_t periods = 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
  const int is_first = !self.is_sampled;
  self.is_sampled = 1;
  return is_first && period_ns < tick_ns ? tick_ns : periods * period_ns;
}

/* Threads name themselves after they have begun. */
static void report_new_name(struct culprit_ring* ring, uint64_t time_ns) {
  char name[17] = "";
  get_name(name);
  if (strcmp(name, self.name) == 0) return;
  strcpy(self.name, name);
  record_write_comm(ring, name, 0, time_ns);
}

struct registers {
  uint64_t ip, sp, fp;
  int in_system_call;
};

/* Time that passes inside a system call reaches us at its return. It is the
 * kernel's, not that of the instruction behind it. */
static struct registers read_registers(const ucontext_t* context) {
  struct registers r;
#if defined(__x86_64__)
  const greg_t* gregs = context->uc_mcontext.gregs;
  r.ip = (uint64_t)gregs[REG_RIP];
  r.sp = (uint64_t)gregs[REG_RSP];
  r.fp = (uint64_t)gregs[REG_RBP];
  /* `syscall` leaves the return address in rcx and the flags in r11; a call
   * to be restarted has its 2 bytes ahead of it again. */
  const uint64_t rcx = (uint64_t)gregs[REG_RCX];
  r.in_system_call = gregs[REG_R11] == gregs[REG_EFL] && (rcx == r.ip || rcx == r.ip + 2);
#elif defined(__aarch64__)
  r.ip = context->uc_mcontext.pc;
  r.sp = context->uc_mcontext.sp;
  r.fp = context->uc_mcontext.regs[29];
  const uint32_t svc = 0xd4000001;
  uint32_t here = 0;
  uint32_t before = 0;
  memcpy(&here, (const void*)(uintptr_t)r.ip, 4);
  if (r.ip % 4096 != 0) memcpy(&before, (const void*)(uintptr_t)(r.ip - 4), 4);
  r.in_system_call = before == svc || here == svc;
#else
#error "the registers of this architecture are not known here"
#endif
  return r;
}

static int write_sample(struct culprit_ring* ring, const struct registers* r, uint64_t time_ns,
                        uint64_t value_ns) {
  struct {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, period;
  } body;
  struct {
    uint64_t count, context, frames[CULPRIT_MAX_FRAMES];
  } chain;
  body.header.type = PERF_RECORD_SAMPLE;
  body.header.misc = PERF_RECORD_MISC_USER;
  body.header.size = sizeof body;
  body.ip = r->ip;
  body.pid = ring->pid;
  body.tid = ring->tid;
  body.time = time_ns;
  body.period = value_ns;
  struct ring_piece pieces[2] = {{&body, sizeof body}, {&chain, 0}};
  if (with_stacks) {
    chain.context = PERF_CONTEXT_USER;
    chain.frames[0] = r->ip;
    const size_t callers =
        stack_walk(r->fp, r->sp, self.stack_end, chain.frames + 1, CULPRIT_MAX_FRAMES - 1);
    if (callers == CULPRIT_MAX_FRAMES - 1) ++ring->cut_stacks;
    chain.count = callers + 2;
    pieces[1].size = (size_t)(chain.count + 1) * sizeof(uint64_t);
    body.header.size = (uint16_t)(sizeof body + pieces[1].size);
  }
  return ring_write(ring, pieces, with_stacks ? 2 : 1);
}

int sampler_handle(siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &cookie) return 0;
  struct culprit_ring* ring = self.ring;
  if (ring == NULL) return 1;
  if (__atomic_load_n(&ring->stop, __ATOMIC_RELAXED) != 0) {
    stop_timer();
    return 1;
  }
  const uint64_t now_ns = monotonic_ns();
  const uint64_t value_ns = take_value_ns(info);
  const struct registers r = read_registers(context);
  if (r.in_system_call) {
    ring->kernel_ns += value_ns;
    return 1;
  }
  report_new_name(ring, now_ns);
  if (!mappings_know(r.ip)) mappings_scan(ring, now_ns);
  ++ring->samples;
  if (value_ns > period_ns) ++ring->merged_samples;
  if (!write_sample(ring, &r, now_ns, value_ns)) ++ring->lost_samples;
  return 1;
}
