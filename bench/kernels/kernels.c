// Kernels that stress one thing each, for bench/simulated_time.py.
//
//   kernels                  the names
//   kernels NAME ROUNDS      runs it, prints the nanoseconds of CPU time that it took

#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random.h"

static const struct Kernel* const kTables[] = {kChains, kInstructions, kMemory, kBranches};
enum { kTableCount = sizeof kTables / sizeof *kTables };

void* memory;
size_t memory_bytes;
static volatile uint64_t sink;

void allocate(size_t bytes) {
  memory_bytes = bytes;
  memory = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) & ~(size_t)((1 << 21) - 1));
  memset(memory, 1, bytes);
}

void allocate_random(size_t bytes) {
  allocate(bytes);
  uint8_t* values = memory;
  for (size_t i = 0; i < bytes; ++i) values[i] = (uint8_t)(next_random() >> 30);
}

void nothing(void) {}
void make_64k_random_bytes(void) {
  allocate_random(1 << 16);
}

// CPU time: others may run on this machine.
static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int run(const struct Kernel* kernel, uint64_t rounds) {
  kernel->prepare();
  const uint64_t begin = now_ns();
  sink = kernel->run(rounds);
  printf("%llu\n", (unsigned long long)(now_ns() - begin));
  return 0;
}

int main(int argc, char** argv) {
  for (int table = 0; table < kTableCount; ++table) {
    for (const struct Kernel* kernel = kTables[table]; kernel->name != NULL; ++kernel) {
      if (argc == 1) puts(kernel->name);
      if (argc == 3 && strcmp(argv[1], kernel->name) == 0)
        return run(kernel, strtoull(argv[2], NULL, 10));
    }
  }
  if (argc == 1) return 0;
  fprintf(stderr, "usage: kernels [NAME ROUNDS]; without arguments it prints the names\n");
  return 2;
}
