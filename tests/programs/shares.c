// Spends known shares of its CPU time in alpha (50 %), beta (30 %) and gamma (20 %)
// and prints the truth, measured by the thread's CPU clock around each turn:
//
//     {"alpha": 1000123456, "beta": 600023456, "gamma": 400012345}      (ns)
//
//     shares SECONDS THREADS [MODE]
//
// The turns are 5 to 15 ms in all, at random, so every part of a run has the same shares, and
// no sampling period or kernel tick keeps step with them.
// Where gamma's code is: MODE "" or one of
//     inlined   alpha's caller holds gamma as inlined code (function `holder`)
//     library   in libshares_part.so, linked
//     plugin    in libshares_plugin.so, by dlopen
//     child     in a child process (fork + exec of this program)
//     jit       in code made at run time, named in /tmp/perf-PID.map
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kUnit = 150 * 1000, kMaxThreads = 256 };

// One dependent chain: the same time per unit in each function.
#define CHAIN(seed, count)                               \
  uint64_t x = (seed);                                   \
  for (uint64_t i = 0; i < (count); ++i) {               \
    x = x * 6364136223846793005u + 1442695040888963407u; \
    __asm__ volatile("" : "+r"(x));                      \
  }

__attribute__((noinline)) uint64_t alpha(uint64_t n) {
  CHAIN(1, n) return x;
}
__attribute__((noinline)) uint64_t beta(uint64_t n) {
  CHAIN(2, n) return x;
}
__attribute__((noinline)) uint64_t gamma_outline(uint64_t n) {
  CHAIN(3, n) return x;
}

static inline __attribute__((always_inline)) uint64_t gamma_inlined(uint64_t n) {
  CHAIN(4, n) return x;
}
__attribute__((noinline)) uint64_t holder(uint64_t n) {
  const uint64_t before = n + 1;
  return gamma_inlined(n) ^ before;
}

uint64_t library_gamma(uint64_t n) __attribute__((weak));

typedef uint64_t (*work)(uint64_t);

static work make_jit(void) {
  static const uint8_t code[] = {0x48, 0x89, 0xf9,                          // mov  %rdi,%rcx
                                 0x48, 0xc7, 0xc0, 0x05, 0x00, 0x00, 0x00,  // mov  $5,%rax
                                 0x48, 0x6b, 0xc0, 0x03,                    // 1: imul $3,%rax,%rax
                                 0x48, 0x83, 0xc0, 0x01,                    // add  $1,%rax
                                 0x48, 0xff, 0xc9,                          // dec  %rcx
                                 0x75, 0xf3,                                // jne  1b
                                 0xc3};                                     // ret
  uint8_t* at =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(at + 64, code, sizeof code);
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE* map = fopen(path, "w");
  fprintf(map, "%lx %zx jit_gamma\n", (unsigned long)(uintptr_t)(at + 64), sizeof code);
  fclose(map);
  return (work)(uintptr_t)(at + 64);
}

static uint64_t cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static work parts[3] = {alpha, beta, gamma_outline};
static const double shares[3] = {0.5, 0.3, 0.2};
static double seconds;
static uint64_t spent[kMaxThreads][3];

static void* spin(void* argument) {
  uint64_t* mine = argument;
  uint64_t random = (uint64_t)(mine - spent[0]) + 1;
  const uint64_t end = cpu_ns() + (uint64_t)(seconds * 1e9);
  double owed[3] = {0, 0, 0};  // what a part overran is taken off its next turn
  while (cpu_ns() < end) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const double turn = 5e6 + (double)((random >> 33) % 10000000);
    for (int p = 0; p < 3; ++p) {
      if (!parts[p]) continue;
      owed[p] += shares[p] * turn;
      const uint64_t start = cpu_ns();
      uint64_t now = start;
      while ((double)(now - start) < owed[p]) {
        parts[p](kUnit);
        now = cpu_ns();
      }
      owed[p] -= (double)(now - start);
      mine[p] += now - start;
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  seconds = atof(argv[1]);
  const int threads = atoi(argv[2]);
  const char* mode = argc > 3 ? argv[3] : "";
  if (threads < 1 || threads > kMaxThreads) return 2;
  pid_t child = 0;
  if (!strcmp(mode, "inlined")) parts[2] = holder;
  if (!strcmp(mode, "library")) parts[2] = library_gamma;
  if (!strcmp(mode, "jit")) parts[2] = make_jit();
  if (!strcmp(mode, "plugin")) {
    void* plugin = dlopen(argv[4], RTLD_NOW);
    if (!plugin) return fprintf(stderr, "%s\n", dlerror()), 1;
    parts[2] = (work)(uintptr_t)dlsym(plugin, "plugin_gamma");
  }
  if (!strcmp(mode, "only-gamma")) parts[0] = parts[1] = NULL;
  if (!strcmp(mode, "child")) {
    parts[2] = NULL;
    child = fork();
    if (child == 0) {
      // The parent spends 80 % of a turn; this process the other 20 %.
      char budget[32];
      snprintf(budget, sizeof budget, "%.6f", seconds * 0.25 * threads);
      execl("/proc/self/exe", "shares_child", budget, "1", "only-gamma", (char*)NULL);
      _exit(127);
    }
  }

  pthread_t ids[kMaxThreads];
  for (int t = 0; t < threads; ++t) pthread_create(&ids[t], NULL, spin, spent[t]);
  for (int t = 0; t < threads; ++t) pthread_join(ids[t], NULL);
  if (child) {
    struct rusage usage;
    waitpid(child, NULL, 0);
    getrusage(RUSAGE_CHILDREN, &usage);
    spent[0][2] = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
                  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
  }
  uint64_t sum[3] = {0, 0, 0};
  for (int t = 0; t < threads; ++t) {
    for (int p = 0; p < 3; ++p) sum[p] += spent[t][p];
  }
  if (strcmp(mode, "only-gamma")) {
    printf("{\"alpha\": %lu, \"beta\": %lu, \"gamma\": %lu}\n", (unsigned long)sum[0],
           (unsigned long)sum[1], (unsigned long)sum[2]);
  }
  return 0;
}
