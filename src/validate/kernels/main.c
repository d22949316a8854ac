/* culprit_kernels run|time KERNEL ROUNDS [BYTES]: runs a kernel; `time` prints what its rounds
 * took, in nanoseconds of this thread on a CPU. Without words, the kernels' names. It is linked
 * statically and does no more than that: two lengths of a kernel differ by its rounds and nothing
 * else. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "validate/kernels/kernels.h"

void run_kernel(const struct Kernel* kernel, uint64_t rounds);

char* memory;
size_t memory_bytes;

static void allocate_pages(size_t bytes, int advice) {
  enum { kLargePage = 2 << 20 };
  const size_t whole = (bytes + kLargePage - 1) / kLargePage * kLargePage;
  char* mapped =
      mmap(NULL, whole + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    perror("culprit_kernels: memory");
    exit(1);
  }
  memory = (char*)(((uintptr_t)mapped + kLargePage - 1) / kLargePage * kLargePage);
  memory_bytes = bytes;
  madvise(memory, whole, advice);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 0;
}
void allocate(size_t bytes) {
  allocate_pages(bytes, MADV_HUGEPAGE);
}
void allocate_in_small_pages(size_t bytes) {
  allocate_pages(bytes, MADV_NOHUGEPAGE);
}
void nothing(size_t bytes) {
  (void)bytes;
}

static uint64_t thread_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const struct Kernel* const kAll[] = {kComputing, kMemory, kControl};

static const struct Kernel* find(const char* name) {
  for (size_t i = 0; i < sizeof kAll / sizeof *kAll; ++i) {
    for (const struct Kernel* one = kAll[i]; one->name; ++one) {
      if (strcmp(one->name, name) == 0) return one;
    }
  }
  return NULL;
}

/* What is modelled of a kernel: not what it works on being made. */
__attribute__((noinline)) void run_kernel(const struct Kernel* kernel, uint64_t rounds) {
  kernel->run(rounds);
  __asm__ volatile("" ::: "memory"); /* no tail call: the function is what runs until then */
}

int main(int count, char** words) {
  if (count < 2) {
    for (size_t i = 0; i < sizeof kAll / sizeof *kAll; ++i) {
      for (const struct Kernel* one = kAll[i]; one->name; ++one) puts(one->name);
    }
    return 0;
  }
  const int prints = strcmp(words[1], "time") == 0;
  const struct Kernel* const kernel = count > 2 ? find(words[2]) : NULL;
  const uint64_t rounds = count > 3 ? strtoull(words[3], NULL, 10) : 0;
  const size_t bytes = count > 4 ? strtoull(words[4], NULL, 10) : 0;
  if (!kernel || rounds == 0 || (!prints && strcmp(words[1], "run") != 0)) {
    fputs("culprit_kernels [run|time KERNEL ROUNDS [BYTES]]: without words, the kernels\n", stderr);
    return 2;
  }
  kernel->prepare(bytes);
  const uint64_t start = thread_ns();
  run_kernel(kernel, rounds);
  if (prints) printf("%llu\n", (unsigned long long)(thread_ns() - start));
  return 0;
}
