// Work that the kernel does for a program, of one kind and of known amount:
//
//     kernel_work memory MB ROUNDS     touches fresh memory and gives it back
//     kernel_work read FILE CALLS      reads 512 bytes at a time
//
// Prints its own times as JSON.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kPageBytes = 4096, kBlockBytes = 512 };

__attribute__((noinline)) void touch_pages(char* memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kPageBytes) memory[at] = 1;
}

__attribute__((noinline)) void use_fresh_memory(size_t bytes, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    char* const memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    touch_pages(memory, bytes);
    munmap(memory, bytes);
  }
}

__attribute__((noinline)) void read_blocks(const char* path, int calls) {
  char block[kBlockBytes];
  const int file = open(path, O_RDONLY);
  for (int i = 0; i < calls; ++i) {
    if (pread(file, block, sizeof block, (i % 64) * kBlockBytes) != sizeof block) abort();
  }
  close(file);
}

static double seconds(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  if (strcmp(words[1], "memory") == 0) {
    use_fresh_memory((size_t)atoi(words[2]) << 20, atoi(words[3]));
  } else {
    read_blocks(words[2], atoi(words[3]));
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("{\"user\": %.6f, \"kernel\": %.6f, \"faults\": %ld}\n", seconds(used.ru_utime),
         seconds(used.ru_stime), used.ru_minflt);
}
