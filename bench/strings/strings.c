// Copies and fills, for bench/strings.py:
//
//     strings KIND BYTES ROUNDS        prints the CPU time of the rounds [ns]
//
// Buffers of BYTES from a page's start (where the kind says nothing else), which have been touched.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { kRoom = 8192 };  // before and behind, for what is not aligned

typedef void Work(uint8_t* to, const uint8_t* from, size_t bytes);

static void movsb(uint8_t* to, const uint8_t* from, size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}
static void movsq(uint8_t* to, const uint8_t* from, size_t bytes) {
  bytes /= 8;
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}
static void stosb(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(7) : "memory");
}
static void stosq(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  bytes /= 8;
  __asm__ volatile("rep stosq" : "+D"(to), "+c"(bytes) : "a"(7L) : "memory");
}
static void backward(uint8_t* to, const uint8_t* from, size_t bytes) {
  to += bytes - 1;
  from += bytes - 1;
  __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(bytes)::"memory", "cc");
}
static void unaligned(uint8_t* to, const uint8_t* from, size_t bytes) {
  movsb(to + 16, from + 1, bytes);
}
static void overlap_1(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  movsb(to + 1, to, bytes);
}
static void overlap_32(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  movsb(to + 32, to, bytes);
}
static void overlap_64(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  movsb(to + 64, to, bytes);
}
static void overlap_256(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  movsb(to + 256, to, bytes);
}
static void down_8(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  movsb(to, to + 8, bytes);
}
static void library_copy(uint8_t* to, const uint8_t* from, size_t bytes) {
  memcpy(to, from, bytes);
  __asm__ volatile("" ::: "memory");
}
static void library_fill(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)from;
  memset(to, 7, bytes);
  __asm__ volatile("" ::: "memory");
}
/// A cycle each: what the clock runs at.
static void adds(uint8_t* to, const uint8_t* from, size_t bytes) {
  (void)to;
  (void)from;
  uint64_t sum = 1;
  for (size_t i = 0; i < bytes / 8; ++i) {
    __asm__ volatile(
        "add %0, %0; add %0, %0; add %0, %0; add %0, %0; add %0, %0; add %0, %0;"
        "add %0, %0; add %0, %0"
        : "+r"(sum));
  }
}

static const struct {
  const char* name;
  Work* work;
} kKinds[] = {
    {"movsb", movsb},           {"movsq", movsq},
    {"stosb", stosb},           {"stosq", stosq},
    {"backward", backward},     {"unaligned", unaligned},
    {"overlap-1", overlap_1},   {"overlap-32", overlap_32},
    {"overlap-64", overlap_64}, {"overlap-256", overlap_256},
    {"down-8", down_8},         {"memcpy", library_copy},
    {"memset", library_fill},   {"adds", adds},
};

static uint8_t* make_buffer(size_t bytes) {
  const size_t all = bytes + 2 * kRoom;
  uint8_t* const made = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) exit(2);
  for (size_t i = 0; i < all; i += 64) made[i] = (uint8_t)(i >> 6);
  return made + kRoom;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Work* work = NULL;
  for (size_t i = 0; i < sizeof kKinds / sizeof kKinds[0]; ++i) {
    if (strcmp(argv[1], kKinds[i].name) == 0) work = kKinds[i].work;
  }
  if (work == NULL) return 2;
  const size_t bytes = strtoull(argv[2], NULL, 10);
  const uint64_t rounds = strtoull(argv[3], NULL, 10);
  uint8_t* const to = make_buffer(bytes);
  const uint8_t* const from = make_buffer(bytes);
  struct timespec begin, end;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  for (uint64_t i = 0; i < rounds; ++i) work(to, from, bytes);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  printf("%lld\n", (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec);
  return 0;
}
