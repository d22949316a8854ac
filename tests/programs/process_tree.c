// A tree of processes that is random but for its seed: forks, vforks, execs, spawns, threads, and
// ends of all kinds, kill -9 among them. All do one thing that is known exactly: spin(k), which is
// 2 k + 1 instructions. Before and after each spin they say so in a file that all of them map, so
// that what must have been counted is known however they end.
//
//     process_tree LOG SEED DEPTH [threads N]
//
// LOG is Log below. Who wants to know when all have ended reads the standard output up to its end.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct Log {
  _Atomic uint64_t begun;      // instructions in spin() that may have run
  _Atomic uint64_t finished;   // that have
  _Atomic uint64_t processes;  // that ran any code of this program
  _Atomic uint64_t kills;  // of processes at places of chance, their first instruction among them
};

static struct Log* log_;
static const char* log_path;
extern char** environ;

void spin(uint64_t turns);
__asm__(
    ".globl spin\n.type spin, @function\nspin:\n1: dec %rdi\n jnz 1b\n ret\n.size spin, . - "
    "spin\n");

static void count(uint64_t turns) {
  atomic_fetch_add(&log_->begun, 2 * turns + 1);
  spin(turns);
  atomic_fetch_add(&log_->finished, 2 * turns + 1);
}

// splitmix64
static uint64_t next(uint64_t* seed) {
  uint64_t z = (*seed += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static unsigned pick(uint64_t* seed, unsigned below) {
  return (unsigned)(next(seed) >> 32) % below;
}

static char text_of_seed[32], text_of_depth[16];
static char* words[] = {"process_tree", NULL, text_of_seed, text_of_depth, NULL};

static void prepare(uint64_t seed, unsigned depth) {
  words[1] = (char*)log_path;
  snprintf(text_of_seed, sizeof text_of_seed, "%llu", (unsigned long long)seed);
  snprintf(text_of_depth, sizeof text_of_depth, "%u", depth);
}

static const unsigned kDeepest = 3;
static void live(uint64_t seed, unsigned depth);

static void* spin_in_thread(void* seed) {
  uint64_t own = (uint64_t)(uintptr_t)seed;
  for (unsigned left = 1 + pick(&own, 3); left > 0; --left) count(1 + pick(&own, 20000));
  return NULL;
}

static void* fork_in_thread(void* seed) {
  count(100);
  const pid_t child = fork();
  if (child == 0) {
    atomic_fetch_add(&log_->processes, 1);
    spin_in_thread(seed);
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0);
  return spin_in_thread(seed);
}

static void run_threads(uint64_t* seed) {
  pthread_t threads[3];
  const unsigned number = 1 + pick(seed, 3);
  for (unsigned i = 0; i < number; ++i) {
    void* (*const what)(void*) = pick(seed, 4) == 0 ? fork_in_thread : spin_in_thread;
    pthread_create(&threads[i], NULL, what, (void*)(uintptr_t)(next(seed) >> 8));
  }
  for (unsigned i = 0; i < number; ++i) pthread_join(threads[i], NULL);
}

static void kill_somewhere(uint64_t* seed) {
  const pid_t child = fork();
  if (child == 0) {
    atomic_fetch_add(&log_->processes, 1);
    for (;;) count(1000);
  }
  if (child < 0) return;
  usleep(pick(seed, 30000));
  atomic_fetch_add(&log_->kills, 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static void* exec_in_thread(void* unused) {
  execv("/proc/self/exe", words);
  return unused;
}

static void* outlive_main(void* seed) {
  usleep(2000);
  spin_in_thread(seed);
  exit(3);
}

// Does not return.
static void end(uint64_t* seed, unsigned depth) {
  pthread_t thread;
  switch (pick(seed, depth < kDeepest ? 9 : 6)) {
    case 0:
      exit(0);
    case 1:
      _exit(1);
    case 2:
      kill(getpid(), SIGKILL);
      for (;;) pause();
    case 3:
      abort();
    case 4:
      pthread_create(&thread, NULL, outlive_main, (void*)(uintptr_t)(next(seed) >> 8));
      pthread_exit(NULL);
    case 5:
      exit(0);
    case 6:
      prepare(next(seed), depth + 1);
      pthread_create(&thread, NULL, exec_in_thread, NULL);
      for (;;) pause();
    default:
      prepare(next(seed), depth + 1);
      execv("/proc/self/exe", words);
      _exit(9);
  }
}

static void act(uint64_t* seed, unsigned depth) {
  const uint64_t other = next(seed);
  const int waits = pick(seed, 3) != 0;
  pid_t child = 0;
  switch (pick(seed, depth < kDeepest ? 9 : 4)) {
    case 0:
    case 1:
      count(1 + pick(seed, 50000));
      return;
    case 2:
      run_threads(seed);
      return;
    case 3:
      kill_somewhere(seed);
      return;
    case 4:
      prepare(other, depth + 1);
      atomic_fetch_add(&log_->processes, 1);
      if ((child = vfork()) == 0) {
        execv("/proc/self/exe", words);
        _exit(9);
      }
      break;
    case 5:
      prepare(other, depth + 1);
      atomic_fetch_add(&log_->processes, 1);
      if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) != 0) return;
      break;
    case 6:
      atomic_fetch_add(&log_->processes, 1);
      if ((child = vfork()) == 0) _exit(5);
      break;
    default:
      if ((child = fork()) == 0) {
        atomic_fetch_add(&log_->processes, 1);
        live(other, depth + 1);
      }
  }
  if (child > 0 && waits) waitpid(child, NULL, 0);
}

// Does not return.
static void live(uint64_t seed, unsigned depth) {
  count(1 + pick(&seed, 1000));
  for (unsigned left = depth == 0 ? 4 : pick(&seed, 4); left > 0; --left) act(&seed, depth);
  count(1 + pick(&seed, 1000));
  end(&seed, depth);
}

static void* spin_little(void* unused) {
  count(1000);
  return unused;
}

// Of the one process: so many threads at a time.
static void run_many_threads(unsigned number) {
  pthread_t* const threads = calloc(number, sizeof *threads);
  for (unsigned i = 0; i < number; ++i) {
    if (pthread_create(&threads[i], NULL, spin_little, NULL) != 0) abort();
  }
  for (unsigned i = 0; i < number; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  log_path = argv[1];
  const int log = open(log_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0 || ftruncate(log, sizeof(struct Log)) != 0) return 2;
  log_ = mmap(NULL, sizeof(struct Log), PROT_READ | PROT_WRITE, MAP_SHARED, log, 0);
  if (log_ == MAP_FAILED) return 2;
  close(log);
  const uint64_t seed = strtoull(argv[2], NULL, 10);
  const int is_first = strcmp(argv[3], "0") == 0;
  if (is_first) atomic_fetch_add(&log_->processes, 1);
  if (argc > 5 && strcmp(argv[4], "threads") == 0) {
    run_many_threads((unsigned)atoi(argv[5]));
    return 0;
  }
  live(seed, (unsigned)atoi(argv[3]));
  return 0;
}
