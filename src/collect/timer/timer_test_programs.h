#pragma once

// Programs that the tests of the timer shim compile with the system's compiler
// and run; each knows how much CPU time it takes, and where.

#include <string>

namespace culprit::testing {

/// spin_in(): burns CPU time of the calling thread in its own instructions. It seldom asks how much
/// it has taken: with other threads on its CPU each question may cost it the CPU between two ticks
/// (the kernel brings its time up to date, and finds its turn over), and no tick would see it.
inline constexpr const char* kSpin = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
__attribute__((noinline)) void spin_in(double seconds) {
  const double start = cpu_s();
  double rounds = 200000, done = 0, spent = 0;
  volatile unsigned long sink = 0; /* shared, its line would be as fast as other threads let it */
  while (spent < seconds) {
    for (long i = 0; i < (long)rounds; ++i) sink += (unsigned long)i;
    done += rounds;
    spent = cpu_s() - start;
    const double left = 0.9 * (seconds - spent);
    rounds = done / spent * (left < 0.02 ? left : 0.02);
    if (rounds < 200000) rounds = 200000;
  }
}
static void* spin_thread(void* seconds) { spin_in(*(double*)seconds); return NULL; }
)";

inline constexpr const char* kOneThread = R"(int main(void) { spin_in(0.3); return 7; })";

inline constexpr const char* kThreads = R"(
int main(int count, char** words) {
  const int threads = atoi(words[1]);
  double seconds = atof(words[2]);
  pthread_t ids[256];
  (void)count;
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, spin_thread, &seconds);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  return 0;
})";

/// The threads run one after the other.
inline constexpr const char* kThreadsInTurn = R"(
int main(int count, char** words) {
  double seconds = atof(words[2]);
  (void)count;
  for (int i = 0; i < atoi(words[1]); ++i) {
    pthread_t id;
    pthread_create(&id, NULL, spin_thread, &seconds);
    pthread_join(id, NULL);
  }
  return 0;
})";

inline constexpr const char* kForkThenExec = R"(
int main(int count, char** words) {
  if (count > 1) { spin_in(0.15); return 0; }
  if (fork() == 0) { spin_in(0.15); _exit(0); }
  if (fork() == 0) { execl(words[0], words[0], "child", (char*)NULL); _exit(1); }
  while (wait(NULL) > 0) {}
  return 0;
})";

/// Starts itself again without fork().
inline constexpr const char* kSpawn = R"(
#include <spawn.h>
extern char** environ;
int main(int count, char** words) {
  if (count > 1) { spin_in(0.15); return 0; }
  char* child[] = {words[0], "child", NULL};
  pid_t pid;
  if (posix_spawn(&pid, words[0], NULL, NULL, child, environ) != 0) return 1;
  wait(NULL);
  spin_in(0.15);
  return 0;
})";

inline constexpr const char* kCrash = R"(
int main(void) { spin_in(0.2); *(volatile int*)1 = 0; return 0; })";

/// Has a profiling timer of its own: counts its signals, which must keep coming.
inline constexpr const char* kOwnProfiler = R"(
static volatile int signals;
static void count_signal(int number) { (void)number; ++signals; }
int main(void) {
  struct sigaction mine, told;
  memset(&mine, 0, sizeof mine);
  mine.sa_handler = count_signal;
  mine.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &mine, NULL);
  sigaction(SIGPROF, NULL, &told);
  if (told.sa_handler != count_signal) return 2;
  struct itimerval often = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_PROF, &often, NULL);
  spin_in(0.3);
  return signals > 5 ? 0 : 1;
})";

inline constexpr const char* kBlocksSignals = R"(
int main(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  spin_in(0.3);
  return 0;
})";

/// Spins in a function of a library that it loads itself.
inline constexpr const char* kPlugin = R"(
__attribute__((visibility("default"))) void spin_in_plugin(double seconds) { spin_in(seconds); })";
inline constexpr const char* kLoadsPlugin = R"(
int main(int count, char** words) {
  (void)count;
  void* library = dlopen(words[1], RTLD_NOW);
  if (library == NULL) return 2;
  void (*spin)(double) = (void (*)(double))dlsym(library, "spin_in_plugin");
  spin(0.3);
  return 0;
})";

inline constexpr const char* kClearsEnvironment = R"(
int main(void) {
  char* nothing[] = {NULL};
  char* words[] = {"true", NULL};
  if (fork() == 0) { execve("/bin/true", words, nothing); _exit(1); }
  wait(NULL);
  return 0;
})";

/// Half of its time in a system call, half in its own code.
inline constexpr const char* kHalfInKernel = R"(
#include <fcntl.h>
int main(void) {
  const int zero = open("/dev/zero", O_RDONLY);
  static char buffer[1 << 20];
  spin_in(0.2);
  const double end = cpu_s() + 0.2;
  while (cpu_s() < end) {
    if (read(zero, buffer, sizeof buffer) < 0) return 1;
  }
  return 0;
})";

/// Three nested calls, for stacks.
inline constexpr const char* kNested = R"(
__attribute__((noinline)) void inner(void) { spin_in(0.3); __asm__ volatile(""); }
__attribute__((noinline)) void outer(void) { inner(); __asm__ volatile(""); }
int main(void) { outer(); return 0; })";

/// Runs its arguments as a strict container does: perf_event_open is refused by a
/// seccomp filter, and the user is nobody.
inline constexpr const char* kContainer = R"(
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <grp.h>
int main(int count, char** words) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (count < 2) return 99;
  if (getuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534))) return 98;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 97;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 96;
  execvp(words[1], words + 1);
  return 95;
})";

}  // namespace culprit::testing
